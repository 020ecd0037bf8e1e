/* SPDX-License-Identifier: Apache-2.0
 * The work of a hook before and after its call goes on: a few stores into the caller's own seat. */
#ifndef TOLLBAR_DOORS_PMPI_WATCH_WATCHED_H
#define TOLLBAR_DOORS_PMPI_WATCH_WATCHED_H

#include "calls.h"
#include "seats.h"

#include <mpi.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So that what a call is not costs it nothing: its line of the table is known where it is compiled. */
#define tollbar_in_each_hook static inline __attribute__((always_inline))

#ifdef TOLLBAR_STANDARD_ABI /* it converts Fortran's handles by other names */
#    define PMPI_Comm_f2c PMPI_Comm_fromint
#    define PMPI_Type_f2c PMPI_Type_fromint
#    define PMPI_Op_f2c PMPI_Op_fromint
#endif

/* A communicator of this process. */
struct tollbar_known {
    MPI_Comm comm;
    struct tollbar_comm* shared; /* NULL: not counted */
    unsigned index;              /* plus one */
    int between_groups;          /* roots and counts of the two groups differ */
    int peers;                   /* how many ranks a partner may be */
    const int* in_world;         /* of each of them */
};

/* The thread's own, so that a call finds its communicator, its type's size and its operation without asking. */
struct tollbar_here {
    struct tollbar_seat* seat; /* NULL: not asked for yet, or none */
    int asked;
    uint64_t forgotten; /* of tollbar_forgotten: the handles below hold as long as it is the same */
    struct {
        MPI_Comm comm;
        const struct tollbar_known* known;
    } comms[8];
    struct {
        MPI_Datatype type;
        uint64_t bytes;
        int known;
    } type; /* a named one, whose handle stays */
    struct {
        MPI_Op op;
        uint16_t number;
        int known;
    } op;
};
extern __thread struct tollbar_here tollbar_here;

extern uint64_t tollbar_forgotten; /* how often a communicator's end was seen; atomic */
extern int tollbar_watches;        /* between MPI_Init and MPI_Finalize, where there is a row; atomic */
extern int tollbar_accounts;       /* meanwhile, and collective calls are timed; atomic */

/* The slow halves; each keeps what it finds in tollbar_here. NULL where there are too many, or it is no communicator.
 */
struct tollbar_seat* tollbar_find_seat(void);
const struct tollbar_known* tollbar_find_known(MPI_Comm comm);
uint64_t tollbar_find_bytes(MPI_Datatype type);
uint16_t tollbar_find_operation(MPI_Op op);

/* Around MPI_Init: takes a row, and begins to watch. */
void tollbar_before_init(void);
void tollbar_after_init(void);

/* Around MPI_Finalize. */
void tollbar_before_finalize(void);
void tollbar_after_finalize(void);

/* A collective call has lasted for tollbar_long_ns or longer. */
void tollbar_stayed(const struct tollbar_known* known, uint64_t number, uint64_t entered_ns, uint64_t left_ns);

/* After a call that gave a communicator, and after one got a name. */
void tollbar_created(MPI_Comm comm, const struct tollbar_known* parent, uint64_t number);
void tollbar_was_named(const struct tollbar_known* known);

/* The arguments of a call that count, by their kinds. */
struct tollbar_given {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    int64_t count;
    int peer, tag;
    const void* site;
};

/* A call's end needs these. */
struct tollbar_entered {
    struct tollbar_seat* seat; /* NULL where it is not seen: it is of a call of the MPI's own, or nothing is watched */
    const struct tollbar_known* known;
    uint64_t since_ns; /* 0: not timed */
};

static inline uint64_t tollbar_now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline void tollbar_put(uint64_t* word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline uint64_t tollbar_own(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static inline unsigned tollbar_entry_of(MPI_Comm comm) {
    const uintptr_t handle = (uintptr_t)comm;
    return (unsigned)(handle ^ handle >> 4 ^ handle >> 9) % 8;
}

static inline const struct tollbar_known* tollbar_known_of(MPI_Comm comm) {
    const struct tollbar_here* here = &tollbar_here;
    const unsigned at = tollbar_entry_of(comm);
    if (here->comms[at].comm == comm && here->comms[at].known != 0 &&
        here->forgotten == __atomic_load_n(&tollbar_forgotten, __ATOMIC_RELAXED))
        return here->comms[at].known;
    return tollbar_find_known(comm);
}

static inline uint64_t tollbar_bytes_of(MPI_Datatype type) {
    const struct tollbar_here* here = &tollbar_here;
    return here->type.known && here->type.type == type ? here->type.bytes : tollbar_find_bytes(type);
}

static inline uint16_t tollbar_operation_of(MPI_Op op) {
    const struct tollbar_here* here = &tollbar_here;
    return here->op.known && here->op.op == op ? here->op.number : tollbar_find_operation(op);
}

/* The next number of the communicator, with what all its ranks have to agree on. */
tollbar_in_each_hook uint64_t tollbar_count(const struct tollbar_known* known, const struct tollbar_call* call,
                                            unsigned line, const struct tollbar_given* given, uint64_t now_ns) {
    struct tollbar_comm* comm = known->shared;
    const uint64_t number = tollbar_own(&comm->count) + 1;
    struct tollbar_counted* counted = &comm->last[number % tollbar_kept];
    const uint64_t root = call->peer != 0 && !known->between_groups ? (uint32_t)given->peer + 1U : 0;
    const uint64_t op = call->op != 0 ? tollbar_operation_of(given->op) : 0;
    uint64_t bytes = ~(uint64_t)0;
    if (call->count != 0 && !known->between_groups) bytes = (uint64_t)given->count * tollbar_bytes_of(given->type);
    tollbar_put(&counted->what, root << 32 | op << 16 | line);
    tollbar_put(&counted->bytes, bytes);
    tollbar_put(&counted->site, (uint64_t)(uintptr_t)given->site);
    if (now_ns != 0) tollbar_put(&counted->entered_ns, now_ns);
    __atomic_store_n(&comm->count, number, __ATOMIC_RELEASE); /* pairs with the acquire in look.cpp */
    return number;
}

static inline int32_t tollbar_world_peer(const struct tollbar_known* known, int peer) {
    if (peer == MPI_ANY_SOURCE) return -1;
    return known != 0 && peer >= 0 && peer < known->peers ? known->in_world[peer] : -2;
}

tollbar_in_each_hook struct tollbar_entered tollbar_enter(const struct tollbar_call* call, unsigned line,
                                                          const struct tollbar_given* given) {
    struct tollbar_entered entered = {0, 0, 0};
    if (call->kind == tollbar_begins) return entered; /* any other is seen only while tollbar_watches */
    struct tollbar_seat* seat = tollbar_here.seat;
    if (seat == 0 && (seat = tollbar_find_seat()) == 0) return entered;
    const uint64_t at = tollbar_own(&seat->at);
    if (tollbar_state_of(at) == tollbar_inside) return entered;
    entered.seat = seat;
    if (call->comm != 0 || call->kind == tollbar_ends) entered.known = tollbar_known_of(given->comm);
    const unsigned index = entered.known == 0 ? 0 : entered.known->index;
    if (call->kind == tollbar_polls && tollbar_own(&seat->site) == (uint64_t)(uintptr_t)given->site &&
        (at & 0xffffff) == tollbar_at(0, index, line, tollbar_polling))
        return entered;
    uint64_t number = 0;
    if (tollbar_counts(call->kind) && entered.known != 0) {
        if (__atomic_load_n(&tollbar_accounts, __ATOMIC_RELAXED)) entered.since_ns = tollbar_now_ns(CLOCK_MONOTONIC);
        number = tollbar_count(entered.known, call, line, given, entered.since_ns);
        tollbar_put(&seat->last, index);
    }
    tollbar_put(&seat->site, (uint64_t)(uintptr_t)given->site);
    tollbar_put(&seat->number, number);
    if (call->tag != 0) {
        const int any = given->tag == MPI_ANY_TAG;
        __atomic_store_n(&seat->peer, tollbar_world_peer(entered.known, given->peer), __ATOMIC_RELAXED);
        __atomic_store_n(&seat->tag, any ? -1 : given->tag, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&seat->at, tollbar_at(tollbar_serial_of(at) + 1, index, line, tollbar_inside),
                     __ATOMIC_RELEASE); /* pairs with the acquire in look.cpp */
    return entered;
}

/* `found`: a poll's answer. */
tollbar_in_each_hook void tollbar_leave_call(const struct tollbar_call* call, struct tollbar_entered entered,
                                             int found) {
    if (entered.seat == 0) return;
    if (entered.since_ns != 0 && (call->kind == tollbar_collective || call->kind == tollbar_creates)) {
        const uint64_t now_ns = tollbar_now_ns(CLOCK_MONOTONIC);
        if (now_ns - entered.since_ns >= tollbar_long_ns)
            tollbar_stayed(entered.known, tollbar_own(&entered.seat->number), entered.since_ns, now_ns);
    }
    const enum tollbar_state state = call->kind == tollbar_polls && !found ? tollbar_polling : tollbar_outside;
    const uint64_t at = tollbar_own(&entered.seat->at);
    if (tollbar_state_of(at) == state) return;
    __atomic_store_n(&entered.seat->at, (at & ~(uint64_t)3) | (uint64_t)state, __ATOMIC_RELEASE); /* as above */
}

#ifdef __cplusplus
}
#endif

#endif
