/* SPDX-License-Identifier: Apache-2.0
 * Requests of this process, and what each is for: a message, or a collective call. The MPI gives a request's handle to
 * another one once it is over, and every call that gives one is a hook: what is known of a handle is of its last owner.
 *
 * Memory order: threads may write at once, and read what another has half written; `check` tells. All words relaxed: a
 * thread has another one's request by the program's own order, and a handle anew by the MPI's. */
#ifndef TOLLBAR_DOORS_PMPI_WATCH_REQUESTS_H
#define TOLLBAR_DOORS_PMPI_WATCH_REQUESTS_H

#include "missing/seats.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A cache line. */
struct tollbar_pending {
    uint64_t request; /* its handle */
    uint64_t way;     /* enum tollbar_purpose */
    uint64_t of;      /* a message's partner and tag; else the number of the collective call on its communicator */
    const struct tollbar_comm* comm; /* its communicator; NULL: not known */
    uint64_t id;                     /* of that */
    uint64_t index;                  /* of that, plus one */
    uint64_t check;
    uint64_t unused;
};

enum { tollbar_pending_bits = 9, tollbar_most_at_once = 16 };

/* By their handles; one that has the same place as another takes it. */
extern __attribute__((visibility("hidden"))) struct tollbar_pending tollbar_requests[1 << tollbar_pending_bits];

/* A message's partner and tag in one word. */
static inline uint64_t tollbar_of_message(int32_t peer, int32_t tag) {
    return (uint64_t)(uint32_t)tag << 32 | (uint32_t)peer;
}
static inline int32_t tollbar_peer_in(uint64_t of) { return (int32_t)(uint32_t)of; }
static inline int32_t tollbar_tag_in(uint64_t of) { return (int32_t)(uint32_t)(of >> 32); }

static inline uint64_t tollbar_check_of(const struct tollbar_pending* one) {
    const uint64_t factor = 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio, as Knuth has it for hashes */
    uint64_t sum = one->request;
    sum = sum * factor + one->way;
    sum = sum * factor + one->of;
    sum = sum * factor + (uint64_t)(uintptr_t)one->comm;
    sum = sum * factor + one->id;
    return sum * factor + one->index;
}

static inline struct tollbar_pending* tollbar_place_of(uint64_t request) {
    return &tollbar_requests[request * 0x9e3779b97f4a7c15 >> (64 - tollbar_pending_bits)];
}

static inline struct tollbar_pending tollbar_not_known(uint64_t request) {
    const struct tollbar_pending one = {request, tollbar_no_way, 0, 0, 0, 0, 0, 0};
    return one;
}

static inline void tollbar_keep_pending(struct tollbar_pending one) {
    struct tollbar_pending* const place = tollbar_place_of(one.request);
    __atomic_store_n(&place->request, one.request, __ATOMIC_RELAXED);
    __atomic_store_n(&place->way, one.way, __ATOMIC_RELAXED);
    __atomic_store_n(&place->of, one.of, __ATOMIC_RELAXED);
    __atomic_store_n(&place->comm, one.comm, __ATOMIC_RELAXED);
    __atomic_store_n(&place->id, one.id, __ATOMIC_RELAXED);
    __atomic_store_n(&place->index, one.index, __ATOMIC_RELAXED);
    __atomic_store_n(&place->check, tollbar_check_of(&one), __ATOMIC_RELAXED);
}

/* tollbar_not_known() where another request has its place, or its communicator is gone. */
static inline struct tollbar_pending tollbar_pending_of(uint64_t request) {
    const struct tollbar_pending* const place = tollbar_place_of(request);
    const struct tollbar_pending one = {
        __atomic_load_n(&place->request, __ATOMIC_RELAXED), __atomic_load_n(&place->way, __ATOMIC_RELAXED),
        __atomic_load_n(&place->of, __ATOMIC_RELAXED),      __atomic_load_n(&place->comm, __ATOMIC_RELAXED),
        __atomic_load_n(&place->id, __ATOMIC_RELAXED),      __atomic_load_n(&place->index, __ATOMIC_RELAXED),
        __atomic_load_n(&place->check, __ATOMIC_RELAXED),   0};
    if (one.request != request || one.check != tollbar_check_of(&one)) return tollbar_not_known(request);
    const int is_gone = one.comm != 0 && __atomic_load_n(&one.comm->id, __ATOMIC_RELAXED) != one.id;
    return is_gone ? tollbar_not_known(request) : one;
}

static inline void tollbar_drop_pending(uint64_t request) {
    struct tollbar_pending* const place = tollbar_place_of(request);
    if (__atomic_load_n(&place->request, __ATOMIC_RELAXED) == request)
        __atomic_store_n(&place->request, 0, __ATOMIC_RELAXED);
}

static inline int tollbar_is_message(struct tollbar_pending one) {
    return one.way != tollbar_no_way && one.way <= (uint64_t)tollbar_to_or_from;
}

/* The purpose of a call that waits for both: nothing is said of two that have different partners. */
static inline struct tollbar_pending tollbar_both_of(struct tollbar_pending one, struct tollbar_pending other) {
    const int is_one_call = one.way == other.way && one.of == other.of && one.comm == other.comm && one.id == other.id;
    if (is_one_call) return one;
    if (!tollbar_is_message(one) || !tollbar_is_message(other) || tollbar_peer_in(one.of) != tollbar_peer_in(other.of))
        return tollbar_not_known(0);
    if (one.way != other.way) one.way = tollbar_to_or_from;
    if (one.of != other.of) one.of = tollbar_of_message(tollbar_peer_in(one.of), -1);
    if (one.comm != other.comm || one.id != other.id) {
        one.comm = 0;
        one.id = one.index = 0;
    }
    return one;
}

#ifdef __cplusplus
}
#endif

#endif
