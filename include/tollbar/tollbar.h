/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: barriers without ranks, groups of ranked participants between threads and processes, and
 * plans as values. */
#ifndef TOLLBAR_H
#define TOLLBAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Conventions
 *
 * A function of type int returns 0 or an errno value; what it would have written through pointers is then left as
 * it was, unless its description says otherwise. No function sets errno, ends the program or throws (libraries built
 * with TOLLBAR_CHECKED do end programs that use a barrier or participant wrongly). Pointers must not be NULL unless
 * their description allows it; where they are, the result is EINVAL.
 *
 * A failed call leaves one line in tollbar_last_error(). EAGAIN ("not yet") is an answer and leaves none.
 *
 * Durations are nanoseconds on CLOCK_MONOTONIC; 0 or less asks once without waiting, INT64_MAX means for ever.
 *
 * Memory order, of barriers and groups: what a thread did before it arrived is visible to every thread whose wait
 * (or test, or timed wait that returned 0) for the same phase or episode has returned. */

/* What an errno value means here, in a few words. Static storage; never NULL; any value may be asked about. */
const char* tollbar_strerror(int error);

/* One line that says what was wrong with the calling thread's last failed call and what is accepted; "" before the
 * first. Valid until the thread's next failure. */
const char* tollbar_last_error(void);

/* --- Barriers: any threads of a process, no ranks. As C++'s std::barrier, with time-outs.
 *
 *     tollbar_barrier* barrier;
 *     tollbar_barrier_init(&barrier, threads, NULL, NULL);
 *     ...in each thread...  tollbar_barrier_arrive_and_wait(barrier);
 *     tollbar_barrier_destroy(barrier);
 */

typedef struct tollbar_barrier tollbar_barrier;

/* Names one phase of one barrier. A plain value; may be used any number of times, by any thread. */
typedef struct tollbar_token {
    uint64_t phase;
} tollbar_token;

/* Runs once a phase, in the thread that arrives last, before anybody is released. Sees what everybody did before
 * arriving, and everybody released sees what it did. Must return: an exception ends the program. */
typedef void (*tollbar_completion)(void* context);

/* The largest count a barrier can expect. */
#define TOLLBAR_BARRIER_MAX 2147483647

/* Makes a barrier that expects `count` arrivals a phase (1 to TOLLBAR_BARRIER_MAX). `completion` may be NULL.
 * Errors: EINVAL, ENOMEM. */
int tollbar_barrier_init(tollbar_barrier** barrier, size_t count, tollbar_completion completion, void* context);

/* No other call for this barrier may be running or come later. NULL is allowed and does nothing. */
void tollbar_barrier_destroy(tollbar_barrier* barrier);

/* Arrives `times` times: at least once, at most what the phase still expects (more is EINVAL where it can be seen
 * to exceed the barrier's count, else undefined). Never blocks. `token` may be NULL. Errors: EINVAL. */
int tollbar_barrier_arrive(tollbar_barrier* barrier, size_t times, tollbar_token* token);

/* Arrives once and blocks until the phase is over. Errors: EINVAL. */
int tollbar_barrier_arrive_and_wait(tollbar_barrier* barrier);

/* Arrives once and expects one arrival less in every later phase. Never blocks. Errors: EINVAL. */
int tollbar_barrier_arrive_and_drop(tollbar_barrier* barrier);

/* Blocks until the token's phase is over. Errors: EINVAL. */
int tollbar_barrier_wait(const tollbar_barrier* barrier, tollbar_token token);

/* 0 when the token's phase is over, EAGAIN when it is not. Never blocks. Errors: EINVAL. */
int tollbar_barrier_try_wait(const tollbar_barrier* barrier, tollbar_token token);

/* Blocks until the token's phase is over, at most that long. After ETIMEDOUT the token is as good as before.
 * Errors: EINVAL, ETIMEDOUT. */
int tollbar_barrier_wait_for(const tollbar_barrier* barrier, tollbar_token token, int64_t nanoseconds);

/* --- Groups: a fixed number of ranks that run any plan, in one process or in several.
 *
 *     tollbar_group* group;
 *     tollbar_group_create(&group, 4, NULL);
 *     ...in thread r...
 *     tollbar_participant* self;
 *     tollbar_group_join(group, r, &self);
 *     for (...) { compute(); tollbar_participant_arrive_and_wait(self); }
 *     tollbar_participant_leave(self);
 */

typedef struct tollbar_group tollbar_group;
typedef struct tollbar_participant tollbar_participant;

/* How participants wait for each other. */
typedef enum tollbar_wait {
    TOLLBAR_WAIT_AUTO = 0, /* TOLLBAR_WAIT if set; else spins only while everybody has a CPU, then yields, then parks */
    TOLLBAR_WAIT_SPIN = 1, /* never gives the CPU away */
    TOLLBAR_WAIT_YIELD = 2, /* gives way for ever, never sleeps */
    TOLLBAR_WAIT_PARK = 3   /* sleeps at once */
} tollbar_wait;

/* All zero (or a NULL pointer to it) means: choose for me. */
typedef struct tollbar_group_options {
    /* A catalogue spelling ("mcs:4,2"), "turnstile" or "combination[:PROCESSORS]". NULL or "": TOLLBAR_PLAN, else
     * what `tollbar tune` stored for this situation, else a default. */
    const char* plan;
    int wait; /* a tollbar_wait */
    /* Other than 0: children made by fork(2) later may join too. Always so for a group opened by name. */
    int shared;
} tollbar_group_options;

/* Where a rank that has not arrived is. */
typedef enum tollbar_absence {
    TOLLBAR_NEVER_JOINED = 0, /* nobody has this rank */
    TOLLBAR_LEFT = 1,         /* whoever had it gave it up */
    TOLLBAR_RUNNING = 2,      /* its process lives */
    TOLLBAR_DEAD = 3          /* its process is gone */
} tollbar_absence;

/* A rank that has not arrived in the episode asked about. */
typedef struct tollbar_absent {
    uint32_t rank;
    tollbar_absence where;
    int64_t process; /* process id; 0 when never joined */
    int64_t thread;  /* kernel's thread id of whoever joined; 0 when never joined */
    uint64_t behind; /* how many episodes it has yet to enter */
} tollbar_absent;

/* Makes a group of this process. `options` may be NULL.
 * Errors: EINVAL (ranks, plan or processors), ENOMEM. */
int tollbar_group_create(tollbar_group** group, uint32_t ranks, const tollbar_group_options* options);

/* Opens the group of that name (1 to 200 letters, digits, '.', '_' or '-'), which any process of this user may do;
 * whoever comes first makes it. `options` may be NULL; its plan, if there is one, must be that of the group.
 * Errors: EINVAL, ENOMEM, EEXIST (what has this name is another group: other ranks, other plan, or no group at
 * all), ENOSPC (/dev/shm is full), EACCES, ENOENT (there is no /dev/shm) and others of open(2). */
int tollbar_group_open(tollbar_group** group, const char* name, uint32_t ranks, const tollbar_group_options* options);

/* Lets go of the group. Its participants keep what they need. NULL is allowed and does nothing. */
void tollbar_group_close(tollbar_group* group);

/* 0 for NULL. */
uint32_t tollbar_group_ranks(const tollbar_group* group);

/* The spelling of what the group runs. Valid until the group is closed; NULL for NULL. */
const char* tollbar_group_plan(const tollbar_group* group);

/* Who has not arrived in the latest episode that anybody has entered, in order of ranks; from any thread at any
 * time. Writes up to `capacity` of them to `missing` (may be NULL when capacity is 0) and to `*count` how many there
 * are. Errors: EINVAL, ENOMEM, ENOSPC (there are more than `capacity`; the first ones and the count are written). */
int tollbar_group_missing(const tollbar_group* group, tollbar_absent* missing, size_t capacity, size_t* count);

/* Takes a rank. To be called by the thread that will use it, after that thread has been pinned. A rank that was given
 * up between episodes may be taken again. Errors: EINVAL (no such rank), EBUSY (somebody has it), ENOMEM. */
int tollbar_group_join(tollbar_group* group, uint32_t rank, tollbar_participant** participant);

/* Gives the rank up. NULL is allowed and does nothing. */
void tollbar_participant_leave(tollbar_participant* participant);

/* Enters the next episode; one thread at a time may use a participant. Never blocks. Some plans need the participant
 * to test or wait afterwards for the others to get on. Arriving again before the episode was left waits for its end
 * first (a checked build stops the program and names the call). Errors: EINVAL. */
int tollbar_participant_arrive(tollbar_participant* participant);

/* Goes on without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL. */
int tollbar_participant_test(tollbar_participant* participant);

/* Blocks until the episode is over. Errors: EINVAL. */
int tollbar_participant_wait(tollbar_participant* participant);

/* Enters the next episode and blocks until it is over. Errors: EINVAL. */
int tollbar_participant_arrive_and_wait(tollbar_participant* participant);

/* Blocks until the episode is over, at most that long. On ETIMEDOUT who is missing is written as by
 * tollbar_group_missing (`count` may be NULL; a list that does not fit is cut) and tollbar_last_error() names them;
 * the episode goes on, any wait may follow. Errors: EINVAL, ENOMEM, ETIMEDOUT. */
int tollbar_participant_wait_for(tollbar_participant* participant, int64_t nanoseconds, tollbar_absent* missing,
                                 size_t capacity, size_t* count);

/* The latest episode this participant has entered, counted from 1; 0 before the first and for NULL. */
uint64_t tollbar_participant_episode(const tollbar_participant* participant);

/* --- Plans: barriers as values, to be looked at, proved and priced without a machine. Any thread may use a plan. */

typedef struct tollbar_plan tollbar_plan;

/* The plan of the catalogue with that spelling. Errors: EINVAL (the line says what is accepted), ENOMEM. */
int tollbar_plan_make(tollbar_plan** plan, const char* spelling, uint32_t ranks);

/* A plan written out, one line a rank, such as "0: !1 ?1\n1: ?0 !0" (`!p` signal p, `?p` await p). It need not be a
 * barrier: ask tollbar_plan_verify. Errors: EINVAL (the line names the word that is wrong), ENOMEM. */
int tollbar_plan_parse(tollbar_plan** plan, const char* words);

/* NULL is allowed and does nothing. */
void tollbar_plan_destroy(tollbar_plan* plan);

/* 0 for NULL. */
uint32_t tollbar_plan_ranks(const tollbar_plan* plan);

/* Writes the word of one rank, such as "!1 ?3 !2 ?2", to `text` with a closing '\0' (`text` may be NULL when capacity
 * is 0) and to `*length` (may be NULL) how long it is without it.
 * Errors: EINVAL (no such rank), ENOMEM, ENOSPC (text and '\0' need more than `capacity`; a cut text and the whole
 * length are written). */
int tollbar_plan_program(const tollbar_plan* plan, uint32_t rank, char* text, size_t capacity, size_t* length);

/* Proves that the plan is a barrier: writes 1 or 0 to `*holds`, and one sentence that explains it to `text`, which is
 * cut to fit (may be NULL when capacity is 0). Errors: EINVAL, ENOMEM. */
int tollbar_plan_verify(const tollbar_plan* plan, int* holds, char* text, size_t capacity);

/* Latency, overhead a message on either side, gap between messages of one rank; microseconds, 0 or more. */
typedef struct tollbar_logp {
    double L;
    double o;
    double g;
} tollbar_logp;

/* When an incoming message takes its overhead from the receiver's CPU. */
typedef enum tollbar_receive {
    TOLLBAR_RECEIVE_AT_AWAIT = 0,
    TOLLBAR_RECEIVE_PLAN_ORDER = 1,
    TOLLBAR_RECEIVE_ON_ARRIVAL = 2
} tollbar_receive;

/* A rank that enters `by_us` microseconds after the others. */
typedef struct tollbar_late {
    uint32_t rank;
    double by_us;
} tollbar_late;

/* What one episode costs: when the last and the first rank leave, and all of them on average. */
typedef struct tollbar_price {
    double last_us;
    double first_us;
    double mean_us;
    uint64_t messages;
} tollbar_price;

/* Evaluates one episode under LogP, with `lates` late ranks (`late` may be NULL when there are none); `receive` is a
 * tollbar_receive. Errors: EINVAL (parameters, a late rank that does not exist, a plan that cannot finish), ENOMEM. */
int tollbar_plan_price(const tollbar_plan* plan, tollbar_logp logp, int receive, const tollbar_late* late, size_t lates,
                       tollbar_price* price);

#ifdef __cplusplus
}
#endif

#endif
