/* SPDX-License-Identifier: Apache-2.0
 * Four threads meet at a pthread barrier; thread 2 does not come. main waits in pthread_join with the barrier's address
 * on its stack. With `spin` the late thread runs. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static volatile unsigned long spun;
static int spins;

__attribute__((noinline)) static void late(void) {
    if (!spins) pause();
    for (;;) ++spun;
}

static void* worker(void* number) {
    pthread_barrier_wait(&barrier);
    if (number == (void*)2) late();
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int words, char** word) {
    pthread_t threads[4];
    pthread_barrier_t* volatile kept = &barrier;
    spins = words > 1 && strcmp(word[1], "spin") == 0;
    pthread_barrier_init(kept, NULL, 4);
    for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, worker, (void*)i);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    return 0;
}
