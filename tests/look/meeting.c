/* SPDX-License-Identifier: Apache-2.0
 * Four threads that meet at a pthread barrier about every two milliseconds; one of them is always the last. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_barrier_t barrier;

static void* worker(void* number) {
    const struct timespec rest = {0, 2000000};
    for (;;) {
        if (number == (void*)3) nanosleep(&rest, NULL);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 4);
    for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, worker, (void*)i);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    return 0;
}
