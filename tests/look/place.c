/* SPDX-License-Identifier: Apache-2.0
 * One of two threads waits at a barrier until the other has read all of stdin. The wait is in the program, or in a
 * library of its own: -DONLY_LIBRARY and -DONLY_MAIN; -DINLINED: in the functions that call it. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifdef INLINED
#    define MAYBE_INLINED static inline __attribute__((always_inline))
#else
#    define MAYBE_INLINED
#endif
MAYBE_INLINED void meet(pthread_barrier_t* barrier);

#ifndef ONLY_MAIN
void meet(pthread_barrier_t* barrier) {
    pthread_barrier_wait(barrier); /* here */
    puts("over");
}
#endif

#ifndef ONLY_LIBRARY
static pthread_barrier_t barrier;

static void* wait_there(void* unused) {
    meet(&barrier);
    return unused;
}

int main(void) {
    pthread_t thread;
    char byte;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, wait_there, NULL);
    while (read(0, &byte, 1) > 0) continue;
    meet(&barrier);
    pthread_join(thread, NULL);
    return 0;
}
#endif
