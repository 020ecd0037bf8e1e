/* SPDX-License-Identifier: Apache-2.0 */
/* The toll check around a barrier of your own, here that of pthreads. */
#include <tollbar/toll.h>

#include <pthread.h>
#include <stdio.h>

enum { ranks = 3, episodes = 10000 };

static struct tollbar_toll tolls[ranks];
static pthread_barrier_t barrier;
static int early;

static void* run(void* argument) {
    const unsigned rank = *(const unsigned*)argument;
    for (uint64_t episode = 1; episode <= episodes; ++episode) {
        tollbar_toll_pay(tolls, rank, episode);
        pthread_barrier_wait(&barrier);
        if (tollbar_toll_leave(tolls, ranks, rank, episode) != ranks) __atomic_fetch_add(&early, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void) {
    unsigned numbers[ranks] = {0, 1, 2};
    pthread_t threads[ranks];
    pthread_barrier_init(&barrier, NULL, ranks);
    for (int rank = 0; rank < ranks; ++rank)
        if (pthread_create(&threads[rank], NULL, run, &numbers[rank]) != 0) return 1;
    for (int rank = 0; rank < ranks; ++rank) pthread_join(threads[rank], NULL);
    pthread_barrier_destroy(&barrier);
    printf("%d episodes, %d early\n", episodes, early);
    return early == 0 ? 0 : 1;
}
