/* SPDX-License-Identifier: Apache-2.0 */
/* The split barrier for OpenSHMEM: a PE posts, goes on computing and exchanging, tests, and is done when every PE of
 * the group has posted and everything it sent before is complete. Link with -ltollbar_shmem (before the OpenSHMEM). */
#ifndef TOLLBAR_SHMEM_H
#define TOLLBAR_SHMEM_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Use
 *
 *     shmem_init();
 *     tollbar_shmem_barrier* barrier;
 *     tollbar_shmem_barrier_create(NULL, NULL, &barrier);          // all PEs
 *     for (...) {
 *         put_my_halo();
 *         tollbar_shmem_barrier_post(barrier);                     // "my halo is sent"
 *         compute_inside();                                        // nobody waits for anybody meanwhile
 *         tollbar_shmem_barrier_wait(barrier);                     // every halo has come
 *         compute_border();
 *     }
 *     tollbar_shmem_barrier_destroy(barrier);
 *     shmem_finalize();
 *
 * What was got or put between post and wait belongs to the next episode: it is not ordered by this one. A buffer that
 * others may still read after an episode may be written again after the next one.
 *
 * Results
 *
 * A function of type int returns 0 or an errno value (tollbar_strerror of tollbar.h says what it means); a failed call
 * leaves one line in tollbar_shmem_last_error(), which names the PE that is at fault. EAGAIN ("not yet") is an answer
 * and leaves none. No function ends the program. PEs are numbered as shmem_my_pe() numbers them, everywhere. Pointers
 * must not be NULL unless their description allows it; where they are, the result is EINVAL.
 *
 *     EINVAL     an argument, or test or wait before the first post
 *     EBUSY      an episode is open: it must end (or be waited for) before this
 *     EALREADY   TOLLBAR_SHMEM_IDLE: the episode is over and was seen to be over
 *     EPROTO     another PE made this barrier with another group, plan, way of signalling or tag
 *     EBADMSG    a signal that can not be: the barrier's memory is used by somebody else as well
 *     ETIMEDOUT  some PE has not posted
 *     ESRCH      this PE is not in the group, or a PE of the group does not exist
 *     EPERM      the calling thread may not call, by what shmem_init_thread gave
 *     EFAULT     the memory is not symmetric
 *     ENOMEM     the symmetric heap (or the memory given) is too small; the line says how much is needed
 *     ENOTSUP    this OpenSHMEM can not do what was asked for
 *
 * After EPROTO or EBADMSG the barrier is of no more use than to be destroyed.
 *
 * Episodes
 *
 * Each barrier has at most one open episode, from post until a test or wait says that it is over. Any number of
 * barriers may be open at once and may be finished in any order, and in different orders on different PEs.
 *
 * Threads
 *
 * With SHMEM_THREAD_SINGLE and SHMEM_THREAD_FUNNELED the thread that made a barrier is the one that may use it. With
 * SHMEM_THREAD_SERIALIZED and SHMEM_THREAD_MULTIPLE any thread may, one at a time for each barrier; with
 * SHMEM_THREAD_SERIALIZED no other thread may be inside OpenSHMEM (and so inside any of these) meanwhile. What is seen
 * to break this is EPERM.
 *
 * Progress
 *
 * tollbar_shmem_barrier_progress() says which of the two holds for a barrier:
 *     TOLLBAR_SHMEM_PROGRESS_POST   a PE that has posted is needed no more: the others get out although it never calls
 *                                   again (as far as the OpenSHMEM completes what was sent to such a PE; through shared
 *                                   memory and on RDMA hardware it does)
 *     TOLLBAR_SHMEM_PROGRESS_CALLS  a PE that has posted passes signals on, whenever it tests or waits for any barrier;
 *                                   while it does neither, others may have to wait for it
 * With the option `engine` also every call that makes the OpenSHMEM progress passes signals on.
 * Once all PEs have posted, test succeeds after finitely many calls on every PE.
 *
 * Waiting follows TOLLBAR_WAIT; by default nobody spins while the node has more PEs than CPUs. With TOLLBAR_TIMEOUT=S
 * tollbar_shmem_barrier_wait names the missing PEs on stderr every S seconds. TOLLBAR_PLAN names the plan of barriers
 * that are made without one.
 *
 * Memory order, of every barrier that is not sync_only: whatever a PE put, stored or updated on a completed context
 * (the default one, and those given to tollbar_shmem_barrier_post_contexts) before it posted is complete and visible to
 * every PE of the group whose test or wait of the same episode has said that it is over. With sync_only that holds of
 * stores of the PE to its own memory only, as with shmem_sync. */

typedef struct tollbar_shmem_barrier tollbar_shmem_barrier;

/* Who meets. A NULL pointer to it, or all zero, means all PEs. */
typedef struct tollbar_shmem_group {
    const int* pes; /* the PEs, in an order that is the same on all of them; or NULL: */
    int start;      /* the first PE */
    int stride;     /* 1 or more */
    int size;       /* how many */
} tollbar_shmem_group;

/* What a PE does to tell another one. */
typedef enum tollbar_shmem_signals {
    TOLLBAR_SHMEM_PUTS = 0,   /* puts of 64 bits into slots of two phases, which say who sent them and in which plan */
    TOLLBAR_SHMEM_AMO32 = 1,  /* atomic increments of 32-bit counters, taken back by the receiver */
    TOLLBAR_SHMEM_AMO64 = 2,  /* fetching atomic increments of 64-bit counters, taken back by the receiver */
    TOLLBAR_SHMEM_POSTED = 3, /* increments of 64-bit counters that are not waited for */
    TOLLBAR_SHMEM_POSTED_1 = 4, /* the same, at most one of them outstanding */
    TOLLBAR_SHMEM_POSTED_2 = 5, /* at most two */
    TOLLBAR_SHMEM_POSTED_4 = 6, /* at most four */
    TOLLBAR_SHMEM_STORES = 7 /* stores into the slots of those PEs whose memory shmem_ptr gives, puts to the others */
} tollbar_shmem_signals;

/* All zero (or a NULL pointer to it) means: choose for me. */
typedef struct tollbar_shmem_options {
    /* A spelling of the catalogue, or "counter": all count up a word of the first PE of the group, the last one
     * releases the others (one shot; `signals` must be TOLLBAR_SHMEM_PUTS).
     * NULL or "": TOLLBAR_PLAN, else one shot for up to 16 PEs or when there are more PEs than CPUs
     * ("dissemination:P-1" up to 8 PEs, "counter" above), else the cheapest plan by price; with other signals than
     * puts also above 8 PEs. */
    const char* plan;
    int signals;   /* a tollbar_shmem_signals */
    int sync_only; /* other than 0: post completes no context */
    int engine;    /* other than 0: the OpenSHMEM's own progress advances the barrier too (Open MPI; else ENOTSUP) */
    unsigned tag;  /* tells barriers apart that different parts of a program make; must be the same on all PEs */
} tollbar_shmem_options;

/* Makes a barrier in the symmetric heap. To be called by all PEs of the program, as shmem_malloc is: those outside the
 * group take part in making it and may do nothing else with it than destroy it. PEs may name different groups in one
 * call as long as each PE of a group names the same. `group` and `options` may be NULL.
 * One PE's fault is every PE's result. Errors: EINVAL, ESRCH, EPROTO, EPERM, ENOMEM, ENOTSUP. */
int tollbar_shmem_barrier_create(const tollbar_shmem_group* group, const tollbar_shmem_options* options,
                                 tollbar_shmem_barrier** barrier);

/* How much memory tollbar_shmem_barrier_create_in needs; 0 when the arguments are wrong. */
size_t tollbar_shmem_barrier_bytes(const tollbar_shmem_group* group, const tollbar_shmem_options* options);

/* Makes a barrier in symmetric memory of the caller's (of shmem_malloc or shmem_align, at the same place on all PEs of
 * the group, aligned to 8 bytes, zero on all of them before the first post of any). Called by the PEs of the group
 * alone, talks to nobody: what differs between PEs is found (EPROTO) when they meet. The memory may be freed or used
 * otherwise, after being set to zero, once all PEs have destroyed the barrier.
 * Errors: EINVAL, ESRCH, EPERM, EFAULT, ENOMEM, ENOTSUP. */
int tollbar_shmem_barrier_create_in(void* memory, size_t bytes, const tollbar_shmem_group* group,
                                    const tollbar_shmem_options* options, tollbar_shmem_barrier** barrier);

/* Gives the barrier up. After tollbar_shmem_barrier_create: to be called by all PEs of the program, in the same order
 * as for other barriers; before shmem_finalize. NULL is allowed and does nothing. Errors: EBUSY (an episode is open on
 * this PE: nothing was done), EPERM. */
int tollbar_shmem_barrier_destroy(tollbar_shmem_barrier* barrier);

/* Enters the next episode: completes the default context (shmem_quiet, which may block until the network has done its
 * part, but never for another PE's post), then tells the others.
 * Memory order: a release of everything before it on the completed contexts.
 * Errors: EBUSY, ESRCH, EPERM. */
int tollbar_shmem_barrier_post(tollbar_shmem_barrier* barrier);

/* As post; completes the given contexts (shmem_ctx_quiet) besides the default one.
 * Memory order: as post. Errors: as post. */
int tollbar_shmem_barrier_post_contexts(tollbar_shmem_barrier* barrier, const shmem_ctx_t* contexts, size_t count);

/* Goes on without blocking: 0 when the episode is over, EAGAIN when it is not, TOLLBAR_SHMEM_IDLE when an earlier call
 * said that it is over. Every value but EAGAIN ends a loop.
 * Memory order: 0 is an acquire of what all PEs of the group did before they posted.
 * Errors: EINVAL (before the first post), ESRCH, EPERM, EPROTO, EBADMSG. */
int tollbar_shmem_barrier_test(tollbar_shmem_barrier* barrier);
#define TOLLBAR_SHMEM_IDLE EALREADY

/* Blocks until the episode is over; at once when a test has said so.
 * Memory order: as test. Errors: EINVAL (before the first post), ESRCH, EPERM, EPROTO, EBADMSG. */
int tollbar_shmem_barrier_wait(tollbar_shmem_barrier* barrier);

/* Blocks until the episode is over or CLOCK_MONOTONIC shows `deadline_ns` nanoseconds. After ETIMEDOUT the episode goes
 * on, any wait or test may follow; up to `capacity` PEs that have not posted, as far as this PE can tell, are written
 * to `missing` (may be NULL when capacity is 0) in ascending order, and how many they are to `count` (may be NULL);
 * tollbar_shmem_last_error() names them.
 * Memory order: as test. Errors: ETIMEDOUT, and as wait. */
int tollbar_shmem_barrier_wait_until(tollbar_shmem_barrier* barrier, int64_t deadline_ns, int* missing, size_t capacity,
                                     size_t* count);

/* CLOCK_MONOTONIC now, in nanoseconds: wait_until(barrier, tollbar_shmem_now() + 1000000, ...) waits a millisecond. */
int64_t tollbar_shmem_now(void);

/* Post and wait in one call. Memory order: as post and wait. Errors: as post and wait. */
int tollbar_shmem_barrier_post_and_wait(tollbar_shmem_barrier* barrier);

/* Who has not posted in the open episode, as wait_until writes it; nobody when none is open. Where the other PE's
 * memory can be read (shmem_ptr) the list is exact; else it has all those of whom nothing was heard yet, through
 * anybody. Errors: EINVAL, ESRCH, EPERM. */
int tollbar_shmem_barrier_missing(tollbar_shmem_barrier* barrier, int* missing, size_t capacity, size_t* count);

/* Whether a posted PE is needed (see above). TOLLBAR_SHMEM_PROGRESS_CALLS for NULL. */
typedef enum tollbar_shmem_progress {
    TOLLBAR_SHMEM_PROGRESS_CALLS = 0,
    TOLLBAR_SHMEM_PROGRESS_POST = 1
} tollbar_shmem_progress;
tollbar_shmem_progress tollbar_shmem_barrier_progress(const tollbar_shmem_barrier* barrier);

/* The spelling of the plan. Valid until the barrier is destroyed; NULL for NULL. */
const char* tollbar_shmem_barrier_plan(const tollbar_shmem_barrier* barrier);

/* How it signals; TOLLBAR_SHMEM_PUTS for NULL. */
tollbar_shmem_signals tollbar_shmem_barrier_signals(const tollbar_shmem_barrier* barrier);

/* The latest episode this PE has entered, counted from 1; 0 before the first and for NULL. */
uint64_t tollbar_shmem_barrier_episode(const tollbar_shmem_barrier* barrier);

/* One line that says what was wrong with the calling thread's last failed call of these; "" before the first. Valid
 * until the thread's next failure. */
const char* tollbar_shmem_last_error(void);

/* --- In the shape of the specification's proposals of non-blocking collectives: a request, tested or waited for.
 *
 *     tollbar_shmem_req request;
 *     tollbar_shmem_barrier_nb(barrier, &request);
 *     ...
 *     tollbar_shmem_req_wait(&request);
 */

typedef tollbar_shmem_barrier* tollbar_shmem_req;

/* What a request is after it has been found complete. */
#define TOLLBAR_SHMEM_REQ_INVALID ((tollbar_shmem_req)0)

/* Posts. Memory order and errors: as post (`request` is then TOLLBAR_SHMEM_REQ_INVALID). */
int tollbar_shmem_barrier_nb(tollbar_shmem_barrier* barrier, tollbar_shmem_req* request);

/* Tests: 0 when complete, and the request becomes TOLLBAR_SHMEM_REQ_INVALID; EAGAIN when not. 0 for
 * TOLLBAR_SHMEM_REQ_INVALID. Memory order and errors: as test. */
int tollbar_shmem_req_test(tollbar_shmem_req* request);

/* Waits; the request becomes TOLLBAR_SHMEM_REQ_INVALID. 0 for TOLLBAR_SHMEM_REQ_INVALID. Memory order and errors: as
 * wait. */
int tollbar_shmem_req_wait(tollbar_shmem_req* request);

/* --- Teams, where the OpenSHMEM has them (version 1.5; define TOLLBAR_SHMEM_TEAMS where it has them but says less). */

#if defined(TOLLBAR_SHMEM_TEAMS) || \
    (defined(SHMEM_MAJOR_VERSION) && SHMEM_MAJOR_VERSION * 100 + SHMEM_MINOR_VERSION >= 105)
/* Makes a barrier of the PEs of a team, in the team's order, in memory of the caller's (as much as
 * tollbar_shmem_barrier_bytes says for as many PEs): called by the PEs of the team alone. The team may be destroyed
 * afterwards. Errors: as tollbar_shmem_barrier_create_in; EINVAL for SHMEM_TEAM_INVALID. */
static inline int tollbar_shmem_barrier_create_team(void* memory, size_t bytes, shmem_team_t team,
                                                    const tollbar_shmem_options* options,
                                                    tollbar_shmem_barrier** barrier) {
    tollbar_shmem_group group = {NULL, 0, 1, shmem_team_n_pes(team)};
    int* pes = group.size > 0 ? (int*)malloc((size_t)group.size * sizeof *pes) : NULL;
    int i, error;

    for (i = 0; pes != NULL && i < group.size; ++i) pes[i] = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    group.pes = pes;
    if (pes == NULL) group.size = -1; /* refused as no group at all */
    error = tollbar_shmem_barrier_create_in(memory, bytes, &group, options, barrier);
    free(pes);
    return error;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
