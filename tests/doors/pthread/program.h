/* SPDX-License-Identifier: Apache-2.0
 * The common part of this folder's programs: they call pthread_barrier_* alone and do not know the door. */
#ifndef TOLLBAR_TESTS_PTHREAD_PROGRAM_H
#define TOLLBAR_TESTS_PTHREAD_PROGRAM_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with a line that names what is wrong. */
#define CHECK(true_thing)                                                     \
    do {                                                                      \
        if (!(true_thing)) {                                                  \
            printf("%s:%d: %s is not so\n", __FILE__, __LINE__, #true_thing); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

/* Runs `body` in so many threads, each with a number from 0, and waits for their end. */
static inline void in_threads(int threads, void* (*body)(void*)) {
    pthread_t running[64];
    CHECK(threads <= 64);
    for (int i = 0; i < threads; ++i) CHECK(pthread_create(&running[i], NULL, body, (void*)(size_t)i) == 0);
    for (int i = 0; i < threads; ++i) CHECK(pthread_join(running[i], NULL) == 0);
}

/* Waits, and says whether the caller is the serial thread; nothing else may be returned. */
static inline int is_serial(pthread_barrier_t* barrier) {
    const int result = pthread_barrier_wait(barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return result == PTHREAD_BARRIER_SERIAL_THREAD;
}

#endif
