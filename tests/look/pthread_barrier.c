/* SPDX-License-Identifier: Apache-2.0
 * Four threads, or as many as the program is told, meet at a pthread barrier; to the second meeting the one in the
 * middle does not come, which says so. main waits in pthread_join with the barrier's address on its stack. With `spin`
 * the late thread runs.
 *
 * usage: pthread_barrier [HOW [THREADS]] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static volatile unsigned long spun;
static int spins;
static long members = 4;

__attribute__((noinline)) static void late(void) {
    if (!spins) pause();
    for (;;) ++spun;
}

static void* worker(void* number) {
    pthread_barrier_wait(&barrier);
    if (number == (void*)(members / 2)) {
        puts("ready");
        fflush(stdout);
        late();
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int words, char** word) {
    pthread_barrier_t* volatile kept = &barrier;
    spins = words > 1 && strcmp(word[1], "spin") == 0;
    if (words > 2) members = atol(word[2]);
    pthread_t threads[members];
    pthread_barrier_init(kept, NULL, (unsigned)members);
    for (long i = 0; i < members; ++i) pthread_create(&threads[i], NULL, worker, (void*)i);
    for (long i = 0; i < members; ++i) pthread_join(threads[i], NULL);
    return 0;
}
