/* SPDX-License-Identifier: Apache-2.0 */
/* The split barrier for OpenSHMEM: a PE posts, computes and communicates, and tests or waits. The episode is over when
 * every PE of the group has posted and everything they sent before is complete. Link with -ltollbar_shmem, before the
 * OpenSHMEM library. */
#ifndef TOLLBAR_SHMEM_H
#define TOLLBAR_SHMEM_H

#include <tollbar/tollbar.h>

#include <errno.h>
#include <shmem.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#pragma GCC visibility push(default)
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
 *         tollbar_shmem_barrier_post(barrier);                     // my halo is sent
 *         compute_inside();                                        // overlaps the barrier
 *         tollbar_shmem_barrier_wait(barrier);                     // every halo has arrived
 *         compute_border();
 *     }
 *     tollbar_shmem_barrier_destroy(barrier);
 *     shmem_finalize();
 *
 * A get or put between post and wait is not ordered by this episode; it belongs to the next one. A buffer that others
 * may still read after an episode may be overwritten after the next one.
 *
 * Results
 *
 * The conventions of tollbar.h hold, with `post` for `arrive`, but errno may change. The line about a failed call is in
 * tollbar_shmem_last_error(), and names the PE at fault. PEs are always numbered as by shmem_my_pe().
 *
 *     EINVAL     a wrong argument, or test or wait before the first post
 *     EBUSY      an episode is open: wait for its end first
 *     EALREADY   TOLLBAR_SHMEM_IDLE: an earlier call already reported the end of the episode
 *     EPROTO     another PE made this barrier with another group, plan, kind of signals or tag
 *     EBADMSG    an impossible signal: something else writes to the barrier's memory
 *     ETIMEDOUT  some PE has not posted
 *     ESRCH      this PE is not in the group, or a PE of the group does not exist
 *     EPERM      the thread level that shmem_init_thread provided forbids this call in this thread
 *     EFAULT     the memory is not symmetric
 *     ENOMEM     the symmetric heap (or the memory given) is too small; the line says how much is needed
 *     ENOTSUP    this OpenSHMEM library lacks what was asked for
 *
 * After EPROTO or EBADMSG the barrier can only be destroyed.
 *
 * Episodes
 *
 * A barrier has at most one open episode, from post until a test or wait reports its end. Any number of barriers may be
 * open at once; each PE may finish them in any order.
 *
 * Threads
 *
 * With SHMEM_THREAD_SINGLE and SHMEM_THREAD_FUNNELED only the thread that made a barrier may use it. With
 * SHMEM_THREAD_SERIALIZED and SHMEM_THREAD_MULTIPLE any thread may, one at a time for each barrier. With
 * SHMEM_THREAD_SERIALIZED no other thread may be inside OpenSHMEM, or any of these functions, at the same time.
 * Detected violations give EPERM.
 *
 * Progress
 *
 * tollbar_shmem_barrier_progress() says which of two guarantees a barrier gives:
 *     TOLLBAR_SHMEM_PROGRESS_POST   Posting is enough: the others finish although this PE makes no further call. The
 *                                   OpenSHMEM library must complete transfers to a PE that makes no calls; through
 *                                   shared memory and on RDMA hardware it does.
 *     TOLLBAR_SHMEM_PROGRESS_CALLS  A PE passes signals on only while it tests or waits for any barrier; otherwise the
 *                                   others may have to wait for it.
 * With the option `engine`, every call that drives the OpenSHMEM library's progress passes signals on as well.
 * Once all PEs have posted, test succeeds after finitely many calls on every PE.
 *
 * With TOLLBAR_TIMEOUT=S tollbar_shmem_barrier_wait names the missing PEs on stderr every S seconds. TOLLBAR_PLAN is
 * the plan of barriers made without one.
 *
 * Memory order: whatever a PE put, stored or updated on a completed context (the default one, and those given to
 * tollbar_shmem_barrier_post_contexts) before it posted is complete and visible to every PE of the group whose test or
 * wait has reported the end of the same episode. With sync_only this holds only for stores of the PE to its own memory,
 * as with shmem_sync. */
typedef struct tollbar_shmem_barrier tollbar_shmem_barrier;

/* The PEs of a barrier. A NULL pointer to it, or all zero, means all PEs. */
typedef struct tollbar_shmem_group {
    const int* pes; /* the PEs, in the same order on all of them; or NULL, and then: */
    int start;      /* the first PE */
    int stride;     /* 1 or more */
    int size;       /* how many */
} tollbar_shmem_group;

/* How a PE signals another. */
typedef enum tollbar_shmem_signals {
    TOLLBAR_SHMEM_AUTO = 0,  /* stores where the memory of every PE of the group can be addressed, else puts */
    TOLLBAR_SHMEM_PUTS = 1,  /* 64-bit puts into slots for even and odd episodes; a put names its sender and plan */
    TOLLBAR_SHMEM_STORES = 2 /* stores into the slots of PEs whose memory shmem_ptr can address, puts to the others */
} tollbar_shmem_signals;

/* All zero, or a NULL pointer to it, selects the defaults. */
typedef struct tollbar_shmem_options {
    /* A spelling of the catalogue. NULL or "": TOLLBAR_PLAN, else one shot for up to 16 PEs or when there are more PEs
     * than CPUs ("dissemination:P-1" up to 8 PEs; above, and for 3 and more that share memory and CPUs, "counter": all
     * count up a word of the first PE of the group, and the last one releases the others), else the cheapest plan by
     * price; with stores that do not reach every PE also above 8 PEs. */
    const char* plan;
    tollbar_shmem_signals signals; /* how its PEs signal each other */
    tollbar_wait wait; /* auto: TOLLBAR_WAIT if set; else no PE spins while the node has more PEs than CPUs */
    int sync_only;     /* nonzero: post completes no context */
    int engine;        /* nonzero: the OpenSHMEM library's progress advances the barrier too (Open MPI; else ENOTSUP) */
    unsigned tag;      /* distinguishes the barriers of different parts of a program; the same on all PEs */
    uint64_t reserved[4]; /* zero */
} tollbar_shmem_options;

/* Makes a barrier in the symmetric heap. Called by all PEs of the program, as shmem_malloc is; a PE outside the group
 * may only destroy the barrier afterwards. PEs may name different groups in one call if all PEs of a group name the
 * same. `group` and `options` may be NULL.
 * An error of one PE is the result of all. Errors: EINVAL, ESRCH, EPROTO, EPERM, ENOMEM, ENOTSUP. */
int tollbar_shmem_barrier_create(const tollbar_shmem_group* group, const tollbar_shmem_options* options,
                                 tollbar_shmem_barrier** barrier);

/* How much memory tollbar_shmem_barrier_create_in needs; 0 when the arguments are wrong. */
size_t tollbar_shmem_barrier_bytes(const tollbar_shmem_group* group, const tollbar_shmem_options* options);

/* Makes a barrier in the caller's symmetric memory: from shmem_malloc or shmem_align, at the same offset on all PEs of
 * the group, aligned to 8 bytes, and zero on all of them before any of them posts. Called by the PEs of the group only.
 * The call does not communicate; arguments that differ between PEs give EPROTO in the first episode. Once all PEs have
 * destroyed the barrier, the memory may be freed, or reused after it is set to zero.
 * Errors: EINVAL, ESRCH, EPERM, EFAULT, ENOMEM, ENOTSUP. */
int tollbar_shmem_barrier_create_in(void* memory, size_t bytes, const tollbar_shmem_group* group,
                                    const tollbar_shmem_options* options, tollbar_shmem_barrier** barrier);

/* Destroys the barrier; call it before shmem_finalize. A barrier of tollbar_shmem_barrier_create is destroyed by all
 * PEs of the program, several barriers in the same order. NULL is allowed and does nothing. Errors: EBUSY (an episode
 * is open on this PE; nothing was done), EPERM. */
int tollbar_shmem_barrier_destroy(tollbar_shmem_barrier* barrier);

/* Enters the next episode: completes the default context (shmem_quiet), then signals the others. shmem_quiet may block
 * for the network, never for another PE's post.
 * Memory order: a release of everything before it on the completed contexts.
 * Errors: EBUSY, ESRCH, EPERM. */
int tollbar_shmem_barrier_post(tollbar_shmem_barrier* barrier);

/* As post; also completes the given contexts (shmem_ctx_quiet).
 * Memory order: as post. Errors: as post. */
int tollbar_shmem_barrier_post_contexts(tollbar_shmem_barrier* barrier, const shmem_ctx_t* contexts, size_t count);

/* Advances without blocking: 0 when the episode is over, EAGAIN when it is not, TOLLBAR_SHMEM_IDLE when an earlier call
 * has reported its end. A polling loop ends at every value but EAGAIN.
 * Memory order: 0 is an acquire of what all PEs of the group did before they posted.
 * Errors: EINVAL (before the first post), ESRCH, EPERM, EPROTO, EBADMSG. */
int tollbar_shmem_barrier_test(tollbar_shmem_barrier* barrier);

/* The result of a test after one that has reported the end of the episode. */
#define TOLLBAR_SHMEM_IDLE EALREADY

/* Blocks until the episode is over; returns at once after a successful test.
 * Memory order: as test. Errors: EINVAL (before the first post), ESRCH, EPERM, EPROTO, EBADMSG. */
int tollbar_shmem_barrier_wait(tollbar_shmem_barrier* barrier);

/* Blocks until the episode is over or the time has passed. After ETIMEDOUT tollbar_shmem_last_error() names the PEs
 * that have not posted, as far as this PE can tell, and the episode goes on; any wait or test may follow. Memory order:
 * as test. Errors: ETIMEDOUT, and as wait. */
int tollbar_shmem_barrier_wait_for(tollbar_shmem_barrier* barrier, int64_t nanoseconds);

/* Post and wait in one call. Memory order: as post and wait. Errors: as post and wait. */
int tollbar_shmem_barrier_post_and_wait(tollbar_shmem_barrier* barrier);

/* Lists the PEs that have not posted in the open episode; none when no episode is open. The list is exact where the
 * other PE's memory can be read (shmem_ptr); otherwise it has every PE that this one has not heard from yet, directly
 * or through others. Errors: EINVAL, ESRCH, EPERM, ENOMEM. */
int tollbar_shmem_barrier_missing(tollbar_shmem_barrier* barrier, tollbar_missing* missing, size_t capacity,
                                  size_t* count);

/* A barrier's progress guarantee (see Progress above). */
typedef enum tollbar_shmem_progress {
    TOLLBAR_SHMEM_PROGRESS_CALLS = 0, /* a PE passes signals on while it tests or waits */
    TOLLBAR_SHMEM_PROGRESS_POST = 1   /* posting is enough */
} tollbar_shmem_progress;

/* The guarantee that this barrier gives; TOLLBAR_SHMEM_PROGRESS_CALLS for NULL. */
tollbar_shmem_progress tollbar_shmem_barrier_progress(const tollbar_shmem_barrier* barrier);

/* The spelling of the plan. Valid until the barrier is destroyed; NULL for NULL. */
const char* tollbar_shmem_barrier_plan(const tollbar_shmem_barrier* barrier);

/* The barrier's kind of signals; TOLLBAR_SHMEM_AUTO for NULL. */
tollbar_shmem_signals tollbar_shmem_barrier_signals(const tollbar_shmem_barrier* barrier);

/* The latest episode this PE has entered, counted from 1; 0 before the first and for NULL. */
uint64_t tollbar_shmem_barrier_episode(const tollbar_shmem_barrier* barrier);

/* One line about the calling thread's last failed call of these functions; "" before the first failure. Valid until
 * the thread's next failure. */
const char* tollbar_shmem_last_error(void);

/* --- Teams, if the OpenSHMEM library has them (version 1.5; define TOLLBAR_SHMEM_TEAMS if it reports an older version
 * but has them). */

#if defined(TOLLBAR_SHMEM_TEAMS) || \
    (defined(SHMEM_MAJOR_VERSION) && SHMEM_MAJOR_VERSION * 100 + SHMEM_MINOR_VERSION >= 105)
/* Makes a barrier of the PEs of a team, in the team's order, in the caller's memory (tollbar_shmem_barrier_bytes of as
 * many PEs). Called by the PEs of the team only. The team may be destroyed afterwards.
 * Errors: as tollbar_shmem_barrier_create_in; EINVAL for SHMEM_TEAM_INVALID. */
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
#pragma GCC visibility pop

#endif
