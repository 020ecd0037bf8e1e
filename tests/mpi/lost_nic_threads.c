/* SPDX-License-Identifier: Apache-2.0
 * As lost_nic, with the combined barrier of the preloaded library and two threads in each rank, all of which are told.
 *
 * usage: lost_nic_threads PAGE EXPECTED_THREADS */
#include "toll.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

enum { threads = 2 };

static void* barrier;
static int (*arrive_and_wait)(void* barrier, unsigned thread);
static struct toll tolls[threads];
static int expected;

static void* run(void* which) {
    const unsigned thread = which != NULL;
    for (int failed = 0; !failed;) {
        struct toll* toll = &tolls[thread];
        toll_pay(toll);
        failed = arrive_and_wait(barrier, thread);
        if (failed) {
            fprintf(stderr, "rank %d, thread %u: %s\n", toll_rank, thread, strerror(failed));
        } else {
            for (int other = 0; other < threads; ++other) toll_check_episode(&tolls[other], toll->episode);
            if (thread == 0) atomic_store(&toll_page->tell, toll->episode);
        }
    }
    if (atomic_fetch_add(&toll_page->corner[0], 1) + 1 == expected) {
        usleep(300000); /* for what was said to get out */
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    for (;;) toll_pause();
    return NULL;
}

int main(int argc, char** argv) {
    int level;
    pthread_t second;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    toll_start(argv);
    expected = atoi(argv[2]);
    for (int thread = 0; thread < threads; ++thread) tolls[thread] = toll_open(MPI_COMM_WORLD, thread);
    int (*create)(MPI_Comm, unsigned, const void*, void**) = dlsym(RTLD_DEFAULT, "tollbar_mpi_barrier_create");
    arrive_and_wait = dlsym(RTLD_DEFAULT, "tollbar_mpi_barrier_arrive_and_wait");
    if (create == NULL || create(MPI_COMM_WORLD, threads, NULL, &barrier)) toll_fail("no combined barrier");
    pthread_create(&second, NULL, run, tolls); /* not NULL: the second */
    run(NULL);
    return 0;
}
