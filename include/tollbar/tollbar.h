/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: barriers without ranks, groups of ranked participants between threads and processes, and plans as
 * values. udp.h, nic.h, mpi.h and shmem.h follow its conventions and share its types. Link with -ltollbar. */
#ifndef TOLLBAR_H
#define TOLLBAR_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Conventions of all headers for C
 *
 * A function of type int returns 0 or an errno value. Output arguments come last; a call that fails leaves them
 * unchanged unless its description says otherwise. No function changes errno, throws or ends the program, except that
 * libraries built with TOLLBAR_CHECKED abort on misuse of a barrier or participant and name the call. A NULL pointer
 * gives EINVAL unless the description allows it. `destroy` and `leave` allow NULL, which does nothing.
 *
 * A failed call leaves one line in tollbar_last_error(). EAGAIN ("not yet") is an answer and leaves none.
 *
 *     create, destroy           a barrier, a group or a plan; `open` creates a group by name, or finds it
 *     join, leave               as one member of a group
 *     arrive, then test         0 when the episode is over, EAGAIN when it is not; never blocks
 *              or wait          blocks until the episode is over
 *              or wait_for      the same for a limited time; after ETIMEDOUT any test or wait may follow
 *     arrive_and_wait           both in one call
 *     missing                   the members that have not arrived
 *
 * Structures that may get more members have reserved room for them, which is zero both ways: options with other values
 * there are of a later version and give EINVAL.
 *
 * Durations are nanoseconds on CLOCK_MONOTONIC; 0 or less asks once without waiting, INT64_MAX waits without limit.
 *
 * Memory order: what a thread did before it arrived at a barrier or in a group happens before any wait, successful
 * test or timed wait with result 0 of the same phase or episode returns. */

/* The meaning of an errno value of any of these headers, in a few words. Static storage; never NULL; any value may be
 * asked about. */
const char* tollbar_strerror(int error);

/* One line about the calling thread's last failed call: what was wrong and what is accepted; "" before the first
 * failure. Valid until the thread's next failure. */
const char* tollbar_last_error(void);

/* How a member waits for the others. */
typedef enum tollbar_wait {
    TOLLBAR_WAIT_AUTO = 0,  /* TOLLBAR_WAIT if set; else spins if every member has a CPU, then yields, then sleeps */
    TOLLBAR_WAIT_SPIN = 1,  /* polls, never yields the CPU, never sleeps */
    TOLLBAR_WAIT_YIELD = 2, /* polls and yields the CPU, never sleeps */
    TOLLBAR_WAIT_PARK = 3   /* sleeps without spinning first */
} tollbar_wait;

/* The state of a member that has not arrived. */
typedef enum tollbar_absence {
    TOLLBAR_NEVER_JOINED = 0, /* no thread has joined as this member */
    TOLLBAR_LEFT = 1,         /* it left */
    TOLLBAR_RUNNING = 2,      /* its process lives */
    TOLLBAR_DEAD = 3,         /* its process is gone */
    TOLLBAR_UNKNOWN = 4       /* it is elsewhere and has not been heard from in this episode */
} tollbar_absence;

/* A member that has not arrived in the episode asked about, as the functions named `missing` list it: they write up to
 * `capacity` members to `missing` (may be NULL when capacity is 0), in ascending order, and the number of all to
 * `*count`, which is more than `capacity` when the list was cut. */
typedef struct tollbar_missing {
    uint32_t rank;         /* its rank; with shmem.h its PE */
    int32_t thread_number; /* with mpi.h the thread's number in its rank; -1: the whole rank */
    tollbar_absence state; /* why it may be missing */
    int64_t process;       /* its process ID; 0: not known */
    int64_t thread;        /* the kernel's ID of the thread that joined; 0: not known */
    uint64_t behind;   /* number of episodes it has yet to enter; 0: not known, or it arrived and then left or died */
    int64_t waited_ns; /* since the first wait_for of the asking member in this episode began; 0: there was none */
    char host[64];     /* name or address of its host, closed by '\0'; "": the caller's host */
    uint64_t reserved[4]; /* zero */
} tollbar_missing;

/* --- Barriers: any threads of a process, no ranks. Like std::barrier of C++, with time-outs.
 *
 *     tollbar_barrier* barrier;
 *     tollbar_barrier_create(threads, NULL, NULL, &barrier);
 *     ...in each thread...  tollbar_barrier_arrive_and_wait(barrier);
 *     tollbar_barrier_destroy(barrier);
 */
typedef struct tollbar_barrier tollbar_barrier;

/* Names one phase of one barrier. A plain value: any thread may use it, any number of times. */
typedef struct tollbar_token {
    uint64_t phase; /* means nothing outside of that barrier */
} tollbar_token;

/* Runs once a phase, in the thread that arrives last, before any thread is released. It sees what every thread did
 * before arriving; every released thread sees what it did. An exception that leaves it ends the program. */
typedef void (*tollbar_completion)(void* context);

/* The largest count a barrier can expect. */
#define TOLLBAR_BARRIER_MAX 2147483647

/* Makes a barrier that expects `count` arrivals a phase (1 to TOLLBAR_BARRIER_MAX). `completion` may be NULL.
 * Errors: EINVAL, ENOMEM. */
int tollbar_barrier_create(size_t count, tollbar_completion completion, void* context, tollbar_barrier** barrier);

/* Destroys the barrier. No other call for it may be running or come later. Errors: none. */
int tollbar_barrier_destroy(tollbar_barrier* barrier);

/* Arrives `times` times: at least once, at most as often as the phase still expects. More than the barrier's count is
 * EINVAL; more than the phase still expects is undefined. Never blocks. `token` may be NULL. Errors: EINVAL. */
int tollbar_barrier_arrive(tollbar_barrier* barrier, size_t times, tollbar_token* token);

/* Arrives once and blocks until the phase is over. Errors: EINVAL. */
int tollbar_barrier_arrive_and_wait(tollbar_barrier* barrier);

/* Arrives once; every later phase expects one arrival fewer. Never blocks. Errors: EINVAL. */
int tollbar_barrier_arrive_and_drop(tollbar_barrier* barrier);

/* Blocks until the token's phase is over. Errors: EINVAL. */
int tollbar_barrier_wait(const tollbar_barrier* barrier, tollbar_token token);

/* 0 when the token's phase is over, EAGAIN when it is not. Never blocks. Errors: EINVAL. */
int tollbar_barrier_test(const tollbar_barrier* barrier, tollbar_token token);

/* Blocks until the token's phase is over or the time has passed. After ETIMEDOUT the token may be waited for again.
 * Errors: EINVAL, ETIMEDOUT. */
int tollbar_barrier_wait_for(const tollbar_barrier* barrier, tollbar_token token, int64_t nanoseconds);

/* --- Groups: a fixed number of ranks that run any plan, in one process or several.
 *
 *     tollbar_group* group;
 *     tollbar_group_create(4, NULL, &group);
 *     ...in thread r...
 *     tollbar_participant* self;
 *     tollbar_group_join(group, r, &self);
 *     for (...) { compute(); tollbar_participant_arrive_and_wait(self); }
 *     tollbar_participant_leave(self);
 */
typedef struct tollbar_group tollbar_group;

/* One rank of a group, used by one thread at a time. */
typedef struct tollbar_participant tollbar_participant;

/* All zero, or a NULL pointer to it, selects the defaults. */
typedef struct tollbar_group_options {
    /* A catalogue spelling ("mcs:4,2"), "turnstile" or "combination[:PROCESSORS]". NULL or "": TOLLBAR_PLAN, else
     * what `tollbar tune` stored for this situation, else a default. */
    const char* plan;
    tollbar_wait wait; /* how its participants wait */
    /* Nonzero: children made by fork(2) later may join too. Always so for a group opened by name. */
    int shared;
    uint64_t reserved[4]; /* zero */
} tollbar_group_options;

/* Makes a group of this process. `options` may be NULL.
 * Errors: EINVAL (ranks, plan or processors), ENOMEM. */
int tollbar_group_create(uint32_t ranks, const tollbar_group_options* options, tollbar_group** group);

/* Opens the group of that name (1 to 200 letters, digits, '.', '_' or '-'); the first process to open it creates it.
 * Any process of the same user may open it. `options` may be NULL; a plan in it must be the group's.
 * Errors: EINVAL, ENOMEM, EEXIST (the name belongs to a group with other ranks or another plan, or to no group),
 * ENOSPC (/dev/shm is full), EACCES, ENOENT (there is no /dev/shm) and others of open(2). */
int tollbar_group_open(const char* name, uint32_t ranks, const tollbar_group_options* options, tollbar_group** group);

/* Destroys the caller's handle of the group. Its participants keep what they need. Errors: none. */
int tollbar_group_destroy(tollbar_group* group);

/* 0 for NULL. */
uint32_t tollbar_group_ranks(const tollbar_group* group);

/* The spelling of what the group runs. Valid until the group is destroyed; NULL for NULL. */
const char* tollbar_group_plan(const tollbar_group* group);

/* Lists the ranks that have not arrived in the latest episode that any rank has entered. Any thread may call it at any
 * time. Errors: EINVAL, ENOMEM. */
int tollbar_group_missing(const tollbar_group* group, tollbar_missing* missing, size_t capacity, size_t* count);

/* Joins as a rank. Call it from the thread that will use the participant, after that thread has been pinned. A rank
 * whose participant left between episodes may be joined again. Errors: EINVAL (no such rank), EBUSY (the rank is
 * taken), ENOMEM. */
int tollbar_group_join(tollbar_group* group, uint32_t rank, tollbar_participant** participant);

/* Gives the rank up. Errors: none. */
int tollbar_participant_leave(tollbar_participant* participant);

/* Enters the next episode. Never blocks. One thread at a time may use a participant. In a plan of several rounds the
 * others depend on this participant's later test or wait. Arriving again before the episode is over first waits for
 * its end; a checked build aborts and names the call. Errors: EINVAL. */
int tollbar_participant_arrive(tollbar_participant* participant);

/* Advances without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL. */
int tollbar_participant_test(tollbar_participant* participant);

/* Blocks until the episode is over. Errors: EINVAL. */
int tollbar_participant_wait(tollbar_participant* participant);

/* Enters the next episode and blocks until it is over. Errors: EINVAL. */
int tollbar_participant_arrive_and_wait(tollbar_participant* participant);

/* Blocks until the episode is over or the time has passed. After ETIMEDOUT tollbar_last_error() names the missing ranks
 * and the episode goes on; any wait or test may follow. Errors: EINVAL, ENOMEM, ETIMEDOUT. */
int tollbar_participant_wait_for(tollbar_participant* participant, int64_t nanoseconds);

/* Lists the ranks that have not arrived in the participant's current (or latest) episode. Errors: EINVAL, ENOMEM. */
int tollbar_participant_missing(const tollbar_participant* participant, tollbar_missing* missing, size_t capacity,
                                size_t* count);

/* The latest episode this participant has entered, counted from 1; 0 before the first and for NULL. */
uint64_t tollbar_participant_episode(const tollbar_participant* participant);

/* --- Plans: barriers as values, which can be printed, proved and priced without being run. Any thread may use a
 * plan. */
typedef struct tollbar_plan tollbar_plan;

/* Makes the catalogue's plan with that spelling. Errors: EINVAL (the line says what is accepted), ENOMEM. */
int tollbar_plan_create(const char* spelling, uint32_t ranks, tollbar_plan** plan);

/* Makes a plan from its text, one line a rank and one a role, such as "0: !1 ?1\n1: ?0 !0" (`!p` signal p, `?p` await
 * p). The result need not be a barrier; tollbar_plan_verify decides. Errors: EINVAL (the line names the wrong word),
 * ENOMEM. */
int tollbar_plan_parse(const char* words, tollbar_plan** plan);

/* Destroys the plan. Errors: none. */
int tollbar_plan_destroy(tollbar_plan* plan);

/* 0 for NULL. */
uint32_t tollbar_plan_ranks(const tollbar_plan* plan);

/* How many roles it has, members that no rank is: a, b, ... in its words. 0 for NULL. */
uint32_t tollbar_plan_roles(const tollbar_plan* plan);

/* The number of a role, counted from 0, where a rank is asked for. */
#define TOLLBAR_ROLE(number) (UINT32_C(16777216) + (number))

/* Writes the word of one rank or role, such as "!1 ?3 !2 ?2", to `text` with a closing '\0' (`text` may be NULL when
 * capacity is 0), and its length without the '\0' to `*length` (may be NULL).
 * Errors: EINVAL (no such rank), ENOMEM, ENOSPC (text and '\0' need more than `capacity`; the text is cut, the length
 * is the full one). */
int tollbar_plan_program(const tollbar_plan* plan, uint32_t rank, char* text, size_t capacity, size_t* length);

/* Decides whether the plan is a barrier: writes 1 or 0 to `*holds`, and one sentence that explains it to `text`, cut
 * to fit (`text` may be NULL when capacity is 0). Errors: EINVAL, ENOMEM. */
int tollbar_plan_verify(const tollbar_plan* plan, int* holds, char* text, size_t capacity);

/* The parameters of LogP: microseconds, 0 or more. */
typedef struct tollbar_logp {
    double L; /* latency */
    double o; /* overhead of a message at either end, o_s = o_r */
    double g; /* gap between messages of one rank */
} tollbar_logp;

/* The moment at which an incoming message takes its overhead from the receiver's CPU. */
typedef enum tollbar_receive {
    TOLLBAR_RECEIVE_AT_AWAIT = 0,   /* when its await set is reached; inside a set in order of arrival */
    TOLLBAR_RECEIVE_PLAN_ORDER = 1, /* when its own await is reached, one await after another as listed */
    TOLLBAR_RECEIVE_ON_ARRIVAL = 2  /* as soon as CPU and receive port are free, awaited or not */
} tollbar_receive;

/* A rank that enters `by_us` microseconds after the others. */
typedef struct tollbar_late {
    uint32_t rank;
    double by_us;
} tollbar_late;

/* The cost of one episode, which begins at 0 with the ranks that are not late; and the messages sent in it. */
typedef struct tollbar_price {
    double last_us;  /* when the last rank leaves: the time of the barrier */
    double first_us; /* when the first rank leaves */
    double mean_us;  /* when ranks leave on average */
    uint64_t messages;
    uint64_t reserved[4]; /* zero */
} tollbar_price;

/* Evaluates one episode under LogP with the `lates` late ranks at `late` (may be NULL when `lates` is 0); `receive` is
 * a tollbar_receive. Errors: EINVAL (parameters, a late rank that does not exist, a plan that cannot finish),
 * ENOMEM. */
int tollbar_plan_price(const tollbar_plan* plan, tollbar_logp logp, int receive, const tollbar_late* late, size_t lates,
                       tollbar_price* price);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
