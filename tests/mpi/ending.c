/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 ends as HOW says, so many microseconds after its first collective call, while a thread of its own makes calls
 * of the MPI and its exit takes a while; rank 1 goes on until it is ended.
 *
 * usage: ending PAGE HOW MICROSECONDS */
#include "toll.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

static const char* how;

static int is(const char* word) { return strcmp(how, word) == 0; }

/* As profilers and large static objects do. */
static void slow(void) { usleep(100000); }

static void* polls(void* unused) {
    for (int found = 0; toll_page != NULL; toll_pause())
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    return unused;
}

/* An exception of C++ that nobody catches. */
static void throws(void) {
    union {
        void* found;
        void (*call)(void);
    } bad_alloc = {dlsym(dlopen("libstdc++.so.6", RTLD_NOW), "_ZSt17__throw_bad_allocv")};
    if (bad_alloc.found == NULL) toll_fail("no libstdc++.so.6");
    bad_alloc.call();
}

static void* finalizes(void* unused) {
    MPI_Finalize();
    return unused;
}

int main(int argc, char** argv) {
    int level;
    pthread_t thread;
    how = argv[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    toll_start(argv);
    atexit(slow);
    at_quick_exit(slow);
    MPI_Barrier(MPI_COMM_WORLD);
    while (toll_rank != 0 && !is("finalizes")) {
        MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
        toll_pause();
    }
    if (is("finalizes")) { /* by a thread that has made no call before */
        pthread_create(&thread, NULL, finalizes, NULL);
        pthread_join(thread, NULL);
        exit(toll_rank == 0 ? 7 : 0);
    }
    pthread_create(&thread, NULL, polls, NULL);
    usleep((useconds_t)atoi(argv[3]));
    if (is("exit")) exit(7);
    if (is("_exit")) _exit(7);
    if (is("quick_exit")) quick_exit(7);
    if (is("abort")) abort();
    if (is("killed")) raise(SIGKILL);
    if (is("throws")) throws();
    if (is("MPI_Abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    return 7;
}
