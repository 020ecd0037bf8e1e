/* SPDX-License-Identifier: Apache-2.0
 * The work of a hook before and after its call goes on: a few stores into the caller's own seat. */
#ifndef TOLLBAR_DOORS_PMPI_WATCH_WATCHED_H
#define TOLLBAR_DOORS_PMPI_WATCH_WATCHED_H

#include "missing/calls.h"
#include "requests.h"
#include "missing/seats.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So that what a call is not costs it nothing: its line of the table is known where it is compiled. */
#define tollbar_in_each_hook static inline __attribute__((always_inline))
#define tollbar_hidden __attribute__((visibility("hidden")))
#define tollbar_slow tollbar_hidden __attribute__((cold))
#define tollbar_rare(condition) (__builtin_expect((condition) != 0, 0) != 0)

#ifdef TOLLBAR_STANDARD_ABI /* it converts Fortran's handles by other names */
#    define PMPI_Comm_f2c PMPI_Comm_fromint
#    define PMPI_Type_f2c PMPI_Type_fromint
#    define PMPI_Op_f2c PMPI_Op_fromint
#    define PMPI_Request_f2c PMPI_Request_fromint
#endif

/* A communicator of this process. */
struct tollbar_known {
    MPI_Comm comm;
    struct tollbar_comm* shared; /* NULL: not counted */
    unsigned index;              /* plus one */
    int rank;                    /* of this process */
    int between_groups;          /* roots and counts of the two groups differ */
    int peers;                   /* how many ranks a partner may be */
    const int* in_world;         /* of each of them */
};

/* A handle 0 is none: nothing is kept, here and in the two below. */
struct tollbar_kept_comm {
    MPI_Comm comm;
    const struct tollbar_known* known; /* NULL where there are too many, or it is no communicator */
};

/* The thread's own, so that a call finds its communicator, its types' sizes and its operation without asking. */
struct tollbar_here {
    struct tollbar_seat* seat; /* NULL: not asked for yet */
    struct tollbar_seat own;   /* where the row has none left: nobody else looks at it */
    uint64_t age;      /* the handles below hold as long as it is tollbar_age; before the seat is there, it is not */
    const void* frame; /* of the call that the seat is in */
    uint64_t polled;   /* the only request that it polls; 0: there is none, or there are several */
    struct tollbar_kept_comm comms[8];
    struct {
        MPI_Datatype type; /* a named one, whose handle stays */
        uint64_t bytes;    /* all ones: not known */
    } types[2];            /* of what a rank gives, and of what it gets into another buffer */
    struct {
        MPI_Op op; /* of the MPI's own, for the same reason */
        uint64_t number;
    } op;
    unsigned owes; /* some of the below: to settle up once the thread has come */
};
enum { tollbar_first_type = 1, tollbar_second_type = 2, tollbar_first_use = 4 };
extern tollbar_hidden __thread struct tollbar_here tollbar_here;

extern tollbar_hidden uint64_t tollbar_age; /* grows with each end of a communicator between MPI_Init and MPI_Finalize;
                                               0 outside of these, and where there is no row; atomic */

extern tollbar_hidden uint64_t tollbar_no_request; /* the handle MPI_REQUEST_NULL */

enum {
    tollbar_accounts = 1, /* collective calls are timed */
    tollbar_several = 2   /* threads may make collective calls at once */
};
extern tollbar_hidden int tollbar_besides; /* some of these; atomic */

/* The slow halves. At a thread's first call and at another age. */
tollbar_slow void tollbar_begin_anew(void);
/* A call begins in a seat that is in another one: whether an error handler, or another function of the program's, has
 * jumped out of that one, so that the new one is none of the MPI's own. */
tollbar_slow int tollbar_was_jumped_out_of(const void* frame);
/* Another communicator or operation than tollbar_here has: then it has what those of this call are. */
tollbar_slow void tollbar_find_handles(const struct tollbar_call* call, MPI_Comm comm, MPI_Op op);
/* A persistent collective call is started. */
tollbar_slow void tollbar_count_start(const struct tollbar_pending* of);

/* A program asked for a call that its MPI has not, as an older or another one, and found the hook. An error code. */
tollbar_slow int tollbar_not_in_this_mpi(const char* name);

/* Around MPI_Init: takes a row, and begins to watch. */
void tollbar_before_init(void);
void tollbar_after_init(void);

/* Around MPI_Finalize. */
void tollbar_before_finalize(void);
void tollbar_after_finalize(void);

/* tollbar_put_counted() where threads may count at once, of the words of a tollbar_counted. */
tollbar_hidden uint64_t tollbar_put_counted_in_turn(const struct tollbar_known* known, uint64_t what, uint64_t gives,
                                                    uint64_t gets, uint64_t site, uint64_t entered_ns);
/* Bytes that a rank gives and gets in a call that has been counted. */
tollbar_slow void tollbar_put_later(const struct tollbar_known* known, uint64_t number,
                                    const struct tollbar_counted* bytes);
/* CLOCK_MONOTONIC, where calls are timed. */
tollbar_slow uint64_t tollbar_time_ns(void);
/* A collective call that is accounted for ends. */
tollbar_slow void tollbar_stayed(const struct tollbar_seat* seat);

/* The arguments of a call that count, by their kinds. */
struct tollbar_given {
    MPI_Comm comm;
    MPI_Datatype type, gets_type;
    MPI_Op op;
    int64_t count, gets;
    int peer, tag;
    const void* requests; /* that the call is given: as many as `count`, or one where calls.txt has no count */
    int by_numbers;       /* they are those of Fortran */
    int in_place;         /* there is, or may be, no buffer beside the one that a root or each rank has alone */
    const void* site;
    const void* frame; /* the caller's, of which the stack goes on from here */
};

/* The part that has to ask the MPI, which may have the caller wait for a lock of its own: after the thread has come.
 * Not marked cold: GCC 12 then takes all that follows in a hook for cold as well. */
tollbar_hidden void tollbar_settle_up(const struct tollbar_known* known, const struct tollbar_call* call,
                                      const struct tollbar_given* given, uint64_t number);

/* The same with a copy: what has an address is in memory, and `given` is in registers. */
tollbar_in_each_hook void tollbar_pay(const struct tollbar_known* known, const struct tollbar_call* call,
                                      const struct tollbar_given* given, uint64_t number) {
    const struct tollbar_given copy = *given;
    tollbar_settle_up(known, call, &copy, number);
}

/* A call's end needs these. */
struct tollbar_entered {
    struct tollbar_seat* seat; /* NULL where it is not seen: it is of a call of the MPI's own, or nothing is watched */
    uint64_t at;               /* of that seat until the call ends */
    const struct tollbar_known* known;
    uint64_t request; /* the one that it was given */
};

/* After a call that gave a communicator, and after one got a name. */
void tollbar_created(MPI_Comm comm, const struct tollbar_call* by, struct tollbar_entered entered);
void tollbar_was_named(const struct tollbar_known* known);

static inline void tollbar_put(uint64_t* word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline uint64_t tollbar_own(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static inline int tollbar_has_besides(int what) {
    return tollbar_rare((__atomic_load_n(&tollbar_besides, __ATOMIC_RELAXED) & what) != 0);
}

static inline struct tollbar_kept_comm* tollbar_kept_of(MPI_Comm comm) {
    const uintptr_t handle = (uintptr_t)comm;
    return &tollbar_here.comms[(handle ^ handle >> 4 ^ handle >> 9) % 8];
}

/* Has tollbar_here know what the call's handles are. */
tollbar_in_each_hook const struct tollbar_known* tollbar_known_of(const struct tollbar_call* call,
                                                                  const struct tollbar_given* given) {
    const struct tollbar_kept_comm* kept = tollbar_kept_of(given->comm);
    if (tollbar_rare(kept->comm != given->comm) || tollbar_rare(call->op != 0 && tollbar_here.op.op != given->op))
        tollbar_find_handles(call, given->comm, given->op);
    return kept->known;
}

static inline uint64_t tollbar_put_counted(struct tollbar_comm* comm, const struct tollbar_counted* what) {
    const uint64_t number = tollbar_own(&comm->count) + 1;
    struct tollbar_counted* counted = &comm->last[number % tollbar_kept];
    tollbar_put(&counted->what, what->what);
    tollbar_put(&counted->gives, what->gives);
    tollbar_put(&counted->gets, what->gets);
    tollbar_put(&counted->site, what->site);
    if (what->entered_ns != 0) tollbar_put(&counted->entered_ns, what->entered_ns);
    __atomic_store_n(&comm->count, number, __ATOMIC_RELEASE); /* pairs with the acquire in look.cpp */
    return number;
}

enum { tollbar_not_compared = -1 };

/* A type is not asked for where it does not count: the program may give none there. */
tollbar_in_each_hook uint64_t tollbar_bytes(int which, MPI_Datatype type, int64_t count) {
    if (tollbar_rare(tollbar_here.types[which].type != type)) {
        tollbar_here.types[which].type = type;
        tollbar_here.types[which].bytes = (uint64_t)tollbar_not_compared;
        tollbar_here.owes |= which == 0 ? tollbar_first_type : tollbar_second_type;
    }
    const uint64_t bytes = tollbar_here.types[which].bytes;
    return tollbar_rare(count < 0) || tollbar_rare(bytes == (uint64_t)tollbar_not_compared)
               ? (uint64_t)tollbar_not_compared
               : (uint64_t)count * bytes;
}

/* Stores what this rank gives, and what it gets into another buffer. Without a root each rank has both buffers, and so
 * has a root, unless one of them is in place; another rank has the one of them that may be in place. */
tollbar_in_each_hook void tollbar_put_bytes(const struct tollbar_known* known, const struct tollbar_call* call,
                                            const struct tollbar_given* given, struct tollbar_counted* counted) {
    const int own_is_given = call->own < call->count; /* the buffer that may be in place */
    const int both = call->peer == 0 || given->peer == known->rank;
    const int is_own = call->gets == 0 || !(both && given->in_place), is_other = call->gets != 0 && both;
    uint64_t gives = (uint64_t)tollbar_not_compared, gets = gives;
    if (!tollbar_rare(known->between_groups) && call->count != 0) {
        if (call->gets == 0 || own_is_given ? is_own : is_other) gives = tollbar_bytes(0, given->type, given->count);
        if (call->gets != 0 && (own_is_given ? is_other : is_own))
            gets = tollbar_bytes(1, given->gets_type, given->gets);
    }
    counted->gives = gives;
    counted->gets = gets;
}

/* The next number of the communicator, with what all its ranks have to agree on. */
tollbar_in_each_hook uint64_t tollbar_count(const struct tollbar_known* known, const struct tollbar_call* call,
                                            unsigned line, const struct tollbar_given* given) {
    const int compared = !tollbar_rare(known->between_groups);
    const uint64_t root = call->peer != 0 && compared ? (uint32_t)given->peer + 1U : 0;
    const uint64_t op = call->op != 0 ? tollbar_here.op.number : 0;
    struct tollbar_counted what = {root << 32 | op << 16 | line, 0, 0, (uint64_t)(uintptr_t)given->site, 0};
    tollbar_put_bytes(known, call, given, &what);
    if (tollbar_has_besides(tollbar_accounts)) what.entered_ns = tollbar_time_ns();
    if (tollbar_has_besides(tollbar_several))
        return tollbar_put_counted_in_turn(known, what.what, what.gives, what.gets, what.site, what.entered_ns);
    return tollbar_put_counted(known->shared, &what);
}

static inline int32_t tollbar_world_peer(const struct tollbar_known* known, int peer) {
    if (peer == MPI_ANY_SOURCE) return -1;
    return known != 0 && peer >= 0 && peer < known->peers ? known->in_world[peer] : -2;
}

static inline uint64_t tollbar_handle_of(MPI_Request request) { return (uint64_t)(uintptr_t)request; }

/* The MPI says so where the program passes none at all. */
static inline uint64_t tollbar_request_at(const struct tollbar_given* given, int64_t index) {
    if (tollbar_rare(given->requests == 0)) return tollbar_no_request;
    if (given->by_numbers) return tollbar_handle_of(PMPI_Request_f2c(((const int*)given->requests)[index]));
    return tollbar_handle_of(((const MPI_Request*)given->requests)[index]);
}

/* The purpose of the requests together. A thread may poll others of several by the same call. */
static inline struct tollbar_pending tollbar_awaited_by(const struct tollbar_call* call,
                                                        const struct tollbar_given* given) {
    struct tollbar_pending all = tollbar_not_known(0);
    if (given->count > tollbar_most_at_once || (call->kind == tollbar_polls && call->count != 0)) return all;
    for (int64_t i = 0, known = 0; i < given->count; ++i) {
        const uint64_t request = tollbar_request_at(given, i);
        if (request == tollbar_no_request) continue;
        const struct tollbar_pending one = tollbar_pending_of(request);
        all = known++ == 0 ? one : tollbar_both_of(all, one);
        if (all.way == tollbar_no_way) break;
    }
    return all;
}

/* A call has given a request. */
tollbar_in_each_hook void tollbar_keep_request(const struct tollbar_call* call, uint64_t age, uint64_t request,
                                               const struct tollbar_given* given, struct tollbar_entered entered) {
    struct tollbar_pending one = tollbar_not_known(request);
    const struct tollbar_known* known = entered.known;
    if (call->kind == tollbar_sends_later || call->kind == tollbar_gets_later) {
        if (tollbar_rare(tollbar_here.age != age)) tollbar_begin_anew();
        const int any = given->tag == MPI_ANY_TAG;
        known = tollbar_known_of(call, given);
        if (tollbar_rare(tollbar_here.owes != 0)) tollbar_pay(known, call, given, 0);
        one.of = tollbar_of_message(tollbar_world_peer(known, given->peer), any ? -1 : given->tag);
        one.way = call->kind == tollbar_sends_later ? tollbar_to : tollbar_from;
    } else if (tollbar_counts(call->kind) && known != 0) {
        one.of = tollbar_own(&entered.seat->number);
        one.way = call->kind == tollbar_begun ? tollbar_of_all : tollbar_of_started;
    }
    if (known != 0) {
        one.comm = known->shared;
        one.id = tollbar_own(&known->shared->id);
        one.index = known->index;
    }
    tollbar_keep_pending(one);
}

static inline void tollbar_start_requests(const struct tollbar_given* given) {
    for (int64_t i = 0; i < given->count; ++i) {
        const struct tollbar_pending one = tollbar_pending_of(tollbar_request_at(given, i));
        if (tollbar_rare(one.way == tollbar_of_started)) tollbar_count_start(&one);
    }
}

/* `age`: tollbar_age, which is not 0. */
tollbar_in_each_hook struct tollbar_entered tollbar_enter(const struct tollbar_call* call, unsigned line, uint64_t age,
                                                          const struct tollbar_given* given) {
    struct tollbar_entered entered = {0, 0, 0, 0};
    if (tollbar_rare(tollbar_here.age != age)) tollbar_begin_anew();
    struct tollbar_seat* const seat = tollbar_here.seat;
    if (seat == 0) __builtin_unreachable(); /* a thread of that age has one */
    const uint64_t at = tollbar_own(&seat->at);
    if (tollbar_rare(tollbar_state_of(at) == tollbar_inside) && !tollbar_was_jumped_out_of(given->frame))
        return entered;
    entered.seat = seat;
    entered.at = at;
    if (call->comm != 0 || call->kind == tollbar_ends) entered.known = tollbar_known_of(call, given);
    unsigned index = entered.known == 0 ? 0 : entered.known->index;
    const int takes_requests = tollbar_takes_requests(call), one = takes_requests && call->count == 0;
    if (one) entered.request = tollbar_request_at(given, 0);
    if (call->kind == tollbar_polls && tollbar_own(&seat->site) == (uint64_t)(uintptr_t)given->site &&
        (at & (takes_requests ? 0xfff : 0xffffff)) == tollbar_at(0, index, line, tollbar_polling)) {
        if (one && tollbar_rare(tollbar_here.polled != entered.request)) {
            tollbar_here.polled = 0;
            tollbar_put(&seat->number, 0);
            __atomic_store_n(&seat->way, tollbar_no_way, __ATOMIC_RELAXED);
        }
        tollbar_put(&seat->polls, tollbar_own(&seat->polls) + 1);
        if (tollbar_rare(tollbar_here.owes != 0)) tollbar_pay(entered.known, call, given, 0);
        return entered;
    }
    uint64_t number = 0;
    if (tollbar_counts(call->kind) && entered.known != 0) {
        number = tollbar_count(entered.known, call, line, given);
        tollbar_put(&seat->last, tollbar_own(&entered.known->shared->id));
        tollbar_put(&seat->last_number, number);
    }
    tollbar_put(&seat->site, (uint64_t)(uintptr_t)given->site);
    tollbar_put(&seat->number, number);
    if (call->tag != 0) {
        const int any = given->tag == MPI_ANY_TAG;
        __atomic_store_n(&seat->peer, tollbar_world_peer(entered.known, given->peer), __ATOMIC_RELAXED);
        __atomic_store_n(&seat->tag, any ? -1 : given->tag, __ATOMIC_RELAXED);
    }
    if (takes_requests) {
        const struct tollbar_pending awaited = tollbar_awaited_by(call, given);
        __atomic_store_n(&seat->way, (int32_t)awaited.way, __ATOMIC_RELAXED);
        __atomic_store_n(&seat->peer, tollbar_peer_in(awaited.of), __ATOMIC_RELAXED);
        __atomic_store_n(&seat->tag, tollbar_tag_in(awaited.of), __ATOMIC_RELAXED);
        tollbar_put(&seat->number, tollbar_is_message(awaited) ? 0 : awaited.of);
        index = (unsigned)awaited.index;
        tollbar_here.polled = entered.request;
    }
    tollbar_here.frame = given->frame;
    entered.at = tollbar_at(tollbar_serial_of(at) + 1, index, line, tollbar_inside);
    __atomic_store_n(&seat->at, entered.at, __ATOMIC_RELEASE); /* pairs with the acquire in look.cpp */
    if (tollbar_rare(tollbar_here.owes != 0)) tollbar_pay(entered.known, call, given, number);
    return entered;
}

/* `found`: a poll's answer. */
tollbar_in_each_hook void tollbar_leave_call(const struct tollbar_call* call, struct tollbar_entered entered,
                                             int found) {
    if (tollbar_rare(entered.seat == 0)) return;
    if (call->kind == tollbar_collective && tollbar_has_besides(tollbar_accounts)) tollbar_stayed(entered.seat);
    const enum tollbar_state state = call->kind == tollbar_polls && !found ? tollbar_polling : tollbar_outside;
    if (call->kind == tollbar_polls && tollbar_state_of(entered.at) == state) return;
    __atomic_store_n(&entered.seat->at, (entered.at & ~(uint64_t)3) | (uint64_t)state, __ATOMIC_RELEASE); /* as above */
}

#ifdef __cplusplus
}
#endif

#endif
