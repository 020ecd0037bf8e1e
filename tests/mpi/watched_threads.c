/* SPDX-License-Identifier: Apache-2.0
 * Threads of all ranks make collective calls. Rank 2 stays away from the last one until the test's script tells it to
 * go on.
 *
 * usage: watched_threads PAGE one-after-the-other|at-once|on-one|racing THREADS */
#include "toll.h"

#include "missing/seats.h"

#include <dirent.h>
#include <pthread.h>

enum { odd = 2, most = 100, calls = 20000 };

static int threads;
static MPI_Comm comms[most];
static pthread_t ids[most];

static void stay_away(void) {
    if (toll_rank != odd) return;
    atomic_store(&toll_page->tell, 1);
    toll_await(&toll_page->told, 1);
}

static void* meets(void* comm) {
    MPI_Barrier(*(MPI_Comm*)comm);
    return NULL;
}

static void* meets_late(void* comm) {
    stay_away();
    return meets(comm);
}

/* Each ends before the next one begins. */
static void one_after_the_other(void) {
    for (int i = 0; i < threads; ++i) {
        pthread_create(&ids[0], NULL, meets, comms);
        pthread_join(ids[0], NULL);
    }
    stay_away();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void* meets_and_stays(void* comm) {
    meets(comm);
    toll_await(&toll_page->told, 1);
    return NULL;
}

/* All are alive until the late one has met. */
static void at_once(void) {
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm_set_name(comms[0], "the late one's");
    pthread_create(&ids[0], NULL, meets_late, &comms[0]);
    for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, meets_and_stays, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
}

static void* counts(void* unused) {
    for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_SELF);
    return unused;
}

static const struct tollbar_row* own_row(void) {
    DIR* files = opendir("/proc/self/fd");
    for (struct dirent* file; (file = readdir(files)) != NULL;) {
        char path[300], target[300] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", file->d_name);
        if (readlink(path, target, sizeof target - 1) < 0 || strstr(target, ".calls.") == NULL) continue;
        const struct tollbar_seats_file* all = mmap(NULL, sizeof *all, PROT_READ, MAP_SHARED, atoi(file->d_name), 0);
        for (uint64_t i = 0; i < all->taken; ++i)
            if (all->rows[i].process == getpid()) return &all->rows[i];
    }
    return NULL;
}

/* No call is lost where two threads count at once. */
static void on_one(void) {
    for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, counts, NULL);
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    const struct tollbar_row* row = own_row();
    if (row == NULL) toll_fail("no row");
    for (int i = 0; i < tollbar_comms; ++i)
        if (strcmp(row->comms[i].name, "MPI_COMM_SELF") == 0)
            toll_expect(row->comms[i].count == (uint64_t)threads * calls);
    toll_expect(row->unseen == 0);
}

/* Two threads of a rank call at once on one communicator, one of them late on the odd rank. */
static void racing(void) {
    MPI_Request requests[10];
    pthread_create(&ids[0], NULL, meets_late, comms);
    usleep(300000);
    for (int i = 0; i < 10; ++i) MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]);
    pthread_join(ids[0], NULL);
    MPI_Waitall(10, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    toll_start(argv);
    threads = atoi(argv[3]);
    comms[0] = MPI_COMM_WORLD;
    if (strcmp(argv[2], "at-once") == 0) at_once();
    if (strcmp(argv[2], "one-after-the-other") == 0) one_after_the_other();
    if (strcmp(argv[2], "on-one") == 0) on_one();
    if (strcmp(argv[2], "racing") == 0) racing();
    return toll_end();
}
