/* SPDX-License-Identifier: Apache-2.0
 * What schedules.c draws by chance, and how it completes requests. Every rank draws the same schedule from its seed;
 * when it comes, and which of the MPI's calls it completes a request by, each rank draws for itself. */
#ifndef TOLLBAR_TESTS_FAULTS_SCHEDULES_H
#define TOLLBAR_TESTS_FAULTS_SCHEDULES_H

#include "apart.h"

#include <sched.h>
#include <stdint.h>

enum { most_ranks = 8, most_communicators = 6, most_requests = 8, most_boards = 500, most_of_text = 4000 };

/* Steele, Lea, Flood 2014: SplitMix. */
static inline uint64_t draw(uint64_t* state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint64_t shared, own;

/* From 0; the same on every rank, and on this one alone. */
static inline int any_of(int count) { return (int)(draw(&shared) % (uint64_t)count); }
static inline int own_of(int count) { return (int)(draw(&own) % (uint64_t)count); }

/* A communicator as every rank knows it, whether it is in it or not. */
struct communicator {
    int live;
    int fresh; /* nobody has made a barrier of it */
    int hangs; /* an attribute, on each rank */
    int size;
    int order[most_ranks]; /* its ranks, as MPI_COMM_WORLD calls them */
    struct toll toll;      /* of a member */
};

/* A pending MPI_Ibarrier, or a handle of MPI_Barrier_init. */
struct request {
    int live;
    int persists;
    int active; /* as the schedule says; here it may be over already */
    int over;
    int of; /* which communicator's; -1 once that is freed */
    int mine;
    int either; /* may end well or not, as a fault is in its way */
    MPI_Request handle;
    struct toll toll;
};

enum { everybody = most_communicators }; /* who is left, beside the communicators of a schedule */

static struct communicator communicators[most_communicators + 1];
static struct request requests[most_requests];

static char done[most_of_text]; /* what this schedule does, on all ranks */
static char* came;              /* what has come of it on this one, where that is not simply success */

#define add_to(text, ...)                                                \
    do {                                                                 \
        const size_t used = strlen(text);                                \
        snprintf(text + used, (size_t)most_of_text - used, __VA_ARGS__); \
    } while (0)

static inline int class_of(int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

static inline int place_in(const struct communicator* one, int rank) {
    int place = 0;
    while (place < one->size && one->order[place] != rank) ++place;
    return place < one->size ? place : -1;
}

/* A board whose numbers are higher than all that were ever on it; that of everybody is used for long. */
static inline struct toll board_for(MPI_Comm comm, const struct communicator* of) {
    static int opened;
    const int board = of == &communicators[everybody] ? 0 : 1 + ++opened % (most_boards - 1);
    return (struct toll){.board = &toll_page->board[board],
                         .comm = comm,
                         .rank = place_in(of, toll_rank),
                         .ranks = of->size,
                         .episode = opened * 100};
}

static inline void go_on(MPI_Comm comm) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    sched_yield();
}

/* As toll_pay_late, and gives the MPI its turns: others may need them to come here. */
static inline void pay_last(struct toll* toll) {
    for (int rank = 0; rank < toll->ranks; ++rank)
        while (rank != toll->rank &&
               tollbar_toll_entered(toll->board->tolls, (unsigned)rank) <= (uint64_t)toll->episode)
            go_on(toll->comm);
    go_on(toll->comm);
    toll_pay(toll);
}

static inline void pay(struct toll* toll, int late) {
    if (own_of(8) == 0) usleep((useconds_t)own_of(300));
    if (own_of(4) == 0) sched_yield();
    if (late == toll->rank) {
        pay_last(toll);
    } else {
        toll_pay(toll);
    }
}

/* A call has found it over. */
static inline void ended(struct request* one, const MPI_Status* status, int code) {
    int cancelled = 0;
    one->over = 1;
    if (code != MPI_SUCCESS && !one->either) add_to(came, " request %d", class_of(code));
    if (code != MPI_SUCCESS) return;
    toll_check_episode(&one->toll, one->toll.episode);
    toll_expect((one->handle == MPI_REQUEST_NULL) == !one->persists);
    MPI_Test_cancelled(status, &cancelled);
    toll_expect(!cancelled);
}

enum how { by_wait, by_test, by_waitall, by_waitany, by_waitsome, by_testall, by_testany, by_testsome, by_look, ways };

/* Asks once for those requests; what is over then is marked. */
static inline void ask(enum how how, struct request** some, int count) {
    MPI_Request handles[most_requests];
    MPI_Status statuses[most_requests] = {0};
    int which[most_requests] = {0}, ended_now = 0, over = 0, code = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) handles[i] = some[i]->handle;
    switch (how) {
        case by_wait: code = MPI_Wait(handles, statuses), ended_now = 1; break;
        case by_test: code = MPI_Test(handles, &over, statuses), ended_now = over || code != MPI_SUCCESS; break;
        case by_waitall: code = MPI_Waitall(count, handles, statuses), over = 1; break;
        case by_testall: code = MPI_Testall(count, handles, &over, statuses); break;
        case by_waitany: code = MPI_Waitany(count, handles, which, statuses), ended_now = 1; break;
        case by_testany: code = MPI_Testany(count, handles, which, &over, statuses), ended_now = over; break;
        case by_waitsome: code = MPI_Waitsome(count, handles, &ended_now, which, statuses); break;
        case by_testsome: code = MPI_Testsome(count, handles, &ended_now, which, statuses); break;
        default: code = MPI_Request_get_status(handles[0], &over, statuses);
    }
    if ((how == by_waitall || how == by_testall) && over)
        for (ended_now = 0; ended_now < count; ++ended_now) which[ended_now] = ended_now;
    /* MPICH 5 may no longer count a request as active after MPI_Request_get_status was asked about it. */
    if ((how == by_waitany || how == by_testany) && ended_now == 1 && which[0] == MPI_UNDEFINED) which[0] = 0;
    if (ended_now == MPI_UNDEFINED) which[0] = 0, ended_now = 1;
    for (int i = 0; i < count; ++i) some[i]->handle = handles[i];
    for (int i = 0; i < ended_now; ++i)
        ended(some[which[i]], &statuses[i], class_of(code) == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : code);
    if (how == by_look && over) toll_check_episode(&some[0]->toll, some[0]->toll.episode);
}

/* Chosen requests that this rank has not found over, in an order of its own. */
static inline int under_way(unsigned chosen, struct request** some) {
    int count = 0;
    for (int i = 0; i < most_requests; ++i) {
        struct request* one = &requests[i];
        if (!(chosen >> i & 1) || !one->live || !one->active || one->over || !one->mine) continue;
        const int at = own_of(count + 1);
        some[count++] = some[at];
        some[at] = one;
    }
    return count;
}

/* Waits for all of them; where there may be errors one after the other. */
static inline void complete(unsigned chosen) {
    struct request* some[most_requests];
    int count;
    while ((count = under_way(chosen, some)) != 0) {
        ask((enum how)own_of(some[0]->either ? by_test + 1 : ways), some, some[0]->either ? 1 : count);
        if (own_of(2) == 0) sched_yield();
    }
}

#endif
