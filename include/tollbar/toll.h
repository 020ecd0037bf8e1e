/* SPDX-License-Identifier: Apache-2.0 */
/* The toll check, for authors of barriers: it finds a rank that leaves an episode before another has
 * entered it. A header alone, for C and C++; no library is needed. `tollbar check` is made of it. */
#ifndef TOLLBAR_TOLL_H
#define TOLLBAR_TOLL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's slot in memory that all ranks share, all zero at first. Episodes are counted from 1.
 *
 *     static struct tollbar_toll tolls[RANKS];
 *
 *     for (uint64_t episode = 1; episode <= 100000; ++episode) {        // in each rank
 *         tollbar_toll_pay(tolls, rank, episode);
 *         my_barrier();
 *         unsigned missing = tollbar_toll_leave(tolls, RANKS, rank, episode);
 *         if (missing != RANKS) fail(rank, "left", episode, "before", missing, "had arrived");
 *     }
 *
 * Memory order: `paid` is plain on purpose. Only the barrier under test orders it, so a thread sanitizer reports a
 * barrier that synchronizes in time but not in memory. Everything else is relaxed, and orders nothing. */
struct tollbar_toll {
    uint64_t paid[2];       /* of odd and of even episodes: another rank may be one ahead of the reader */
    uint64_t entered;       /* the newest episode that this rank has entered */
    uint64_t left;          /* the newest that it has left */
    uint64_t own_lines[12]; /* so that no two ranks share a pair of cache lines */
};

/* The newest episode a rank has entered, or left. */
static inline uint64_t tollbar_toll_entered(const struct tollbar_toll* tolls, unsigned rank) {
    return __atomic_load_n(&tolls[rank].entered, __ATOMIC_RELAXED);
}
static inline uint64_t tollbar_toll_left(const struct tollbar_toll* tolls, unsigned rank) {
    return __atomic_load_n(&tolls[rank].left, __ATOMIC_RELAXED);
}

/* The lowest rank whose toll for that episode is not there to see; `ranks` when all have paid. */
static inline unsigned tollbar_toll_unpaid(const struct tollbar_toll* tolls, unsigned ranks, uint64_t episode) {
    unsigned other = 0;
    while (other < ranks && *(const volatile uint64_t*)&tolls[other].paid[episode % 2] >= episode) ++other;
    return other;
}

/* Right before a rank enters the barrier. */
static inline void tollbar_toll_pay(struct tollbar_toll* tolls, unsigned rank, uint64_t episode) {
    *(volatile uint64_t*)&tolls[rank].paid[episode % 2] = episode;
    __atomic_store_n(&tolls[rank].entered, episode, __ATOMIC_RELAXED);
}

/* Right after a rank has left the barrier. Returns a rank that had not entered that episode, so `rank` was let out
 * early; `ranks` when all had. */
static inline unsigned tollbar_toll_leave(struct tollbar_toll* tolls, unsigned ranks, unsigned rank, uint64_t episode) {
    __atomic_store_n(&tolls[rank].left, episode, __ATOMIC_RELAXED);
    return tollbar_toll_unpaid(tolls, ranks, episode);
}

/* Whether all other ranks have entered that episode: one that has still to enter it is the last then. */
static inline int tollbar_toll_is_last(const struct tollbar_toll* tolls, unsigned ranks, unsigned rank,
                                       uint64_t episode) {
    unsigned other;
    for (other = 0; other < ranks; ++other)
        if (other != rank && tollbar_toll_entered(tolls, other) < episode) return 0;
    return 1;
}

/* Before that rank pays: the lowest other rank that has left the episode all the same; `ranks` when none has. */
static inline unsigned tollbar_toll_early(const struct tollbar_toll* tolls, unsigned ranks, unsigned rank,
                                          uint64_t episode) {
    unsigned other = 0;
    while (other < ranks && (other == rank || tollbar_toll_left(tolls, other) < episode)) ++other;
    return other;
}

/* A library with these three functions is checked by `tollbar check threads FILE`. Each thread calls the second
 * with its own rank, once an episode; the others are called by one thread. */
void* tollbar_checked_create(unsigned ranks);
void tollbar_checked_arrive_and_wait(void* barrier, unsigned rank);
void tollbar_checked_destroy(void* barrier);

#ifdef __cplusplus
}
#endif

#endif
