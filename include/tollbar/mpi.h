/* SPDX-License-Identifier: Apache-2.0 */
/* The combined barrier, between all threads of all ranks of an MPI communicator. Link with the library for your MPI:
 * -ltollbar_mpi_openmpi, -ltollbar_mpi_mpich or -ltollbar_mpi_abi. */
#ifndef TOLLBAR_MPI_H
#define TOLLBAR_MPI_H

#include <tollbar/tollbar.h>

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* In each episode the threads of a rank gather; one of them, the messenger, runs the barrier with the other ranks; then
 * it releases the threads of its rank.
 *
 *     tollbar_mpi_barrier* barrier;
 *     tollbar_mpi_barrier_create(MPI_COMM_WORLD, threads, NULL, &barrier);
 *     ...in thread t of every rank, 0 <= t < threads...
 *     tollbar_mpi_barrier_arrive_and_wait(barrier, t);
 *     ...in one thread of every rank...
 *     tollbar_mpi_barrier_destroy(barrier);
 *
 * The thread level that MPI_Init_thread provided decides which thread is the messenger:
 *
 *     MPI_THREAD_SINGLE       the only thread: more than 1 thread a rank is refused
 *     MPI_THREAD_FUNNELED     thread 0, which must be the main thread
 *     MPI_THREAD_SERIALIZED   the last thread to arrive with inner "turnstile", else thread 0
 *     MPI_THREAD_MULTIPLE     the same
 *
 * Only the messenger calls MPI in these functions. With MPI_THREAD_SERIALIZED no other thread may call MPI while the
 * messenger is inside one of them.
 *
 * The conventions of tollbar.h hold: 0 or an errno value, never an MPI error code, and output arguments last. The line
 * about a failed call is in tollbar_mpi_last_error().
 *
 * TOLLBAR_WAIT selects how threads wait; by default none spins while the node has more threads in the barrier than
 * CPUs. The messenger drives MPI progress while it waits. With TOLLBAR_TIMEOUT=S the missing threads and ranks are
 * named on stderr every S seconds.
 *
 * Memory order: what a thread did before it arrived happens before any wait for, or successful test of, the same
 * episode returns, in every thread of every rank that shares the memory. */
typedef struct tollbar_mpi_barrier tollbar_mpi_barrier;

/* All zero, or a NULL pointer to it, selects the defaults. */
typedef struct tollbar_mpi_barrier_options {
    /* Among the threads of this rank: "turnstile", a catalogue spelling ("mcs:4,2") or "combination[:PROCESSORS]".
     * NULL or "": turnstile; where each thread has a CPU and more are there than share a cache, one for each such
     * number of neighbours, "turnstile@8/turnstile". May differ from rank to rank. */
    const char* inner;
    /* Among the ranks: a catalogue spelling, "turnstile" or "turnstile/PLAN" (the ranks of a node meet at one word, and
     * the first rank of each node runs PLAN; with "turnstile/card:PLAN" the nodes' network cards run it). NULL or "":
     * TOLLBAR_PLAN, else chosen automatically. Rank 0's value is used. */
    const char* outer;
    uint64_t reserved[4]; /* zero */
} tollbar_mpi_barrier_options;

/* The thread that runs the barrier with the other ranks. */
typedef enum tollbar_mpi_messenger {
    TOLLBAR_MPI_FIRST_THREAD = 0,  /* thread 0 */
    TOLLBAR_MPI_LAST_TO_ARRIVE = 1 /* whichever thread is last in an episode */
} tollbar_mpi_messenger;

/* Makes a barrier of `threads` threads in this rank; the number may differ between ranks. Collective over `comm`,
 * called by one thread of each rank that may call MPI. `comm` is duplicated and may be freed afterwards. `options` may
 * be NULL. An error of one rank is the result of all, unless it prevents that rank from communicating.
 * Errors: EINVAL (threads, inner, outer, no communicator, an intercommunicator, MPI not running), ENOTSUP (more than
 * one thread with MPI_THREAD_SINGLE), EPERM (with MPI_THREAD_FUNNELED: not called by the main thread), EIO (an MPI call
 * failed), ENOMEM and others of set-up. */
int tollbar_mpi_barrier_create(MPI_Comm comm, unsigned threads, const tollbar_mpi_barrier_options* options,
                               tollbar_mpi_barrier** barrier);

/* Collective like create; call it before MPI_Finalize. No episode may be open, and no other call for this barrier may
 * be running or follow. Errors: none. */
int tollbar_mpi_barrier_destroy(tollbar_mpi_barrier* barrier);

/* Enters the next episode and blocks until all threads of all ranks have entered it. `thread` is the caller's number;
 * one thread at a time may use a number. Errors: EINVAL (no such thread; called between arrive and wait), EPERM (with
 * MPI_THREAD_FUNNELED: thread 0 is not the main thread), ENOMEM, EPIPE (the nodes use their network cards, and this
 * node's NIC daemon is gone), EIO (the MPI gave an error for a message between the ranks). After the last two this
 * episode failed, and so will all later ones. */
int tollbar_mpi_barrier_arrive_and_wait(tollbar_mpi_barrier* barrier, unsigned thread);

/* Enters the next episode. Never blocks. The others depend on a later test or wait of the messenger and, with inner
 * plans of several rounds, of every thread. Errors: as arrive_and_wait. */
int tollbar_mpi_barrier_arrive(tollbar_mpi_barrier* barrier, unsigned thread);

/* Advances without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL (no such thread, test
 * without arrive), EPIPE and EIO as arrive_and_wait. */
int tollbar_mpi_barrier_test(tollbar_mpi_barrier* barrier, unsigned thread);

/* Blocks until the episode is over; returns at once after a successful test. Errors: as test. */
int tollbar_mpi_barrier_wait(tollbar_mpi_barrier* barrier, unsigned thread);

/* As wait, for at most that time. After ETIMEDOUT tollbar_mpi_last_error() names the missing and the episode goes on;
 * any wait or test may follow. The others may have to wait for a messenger that makes no call.
 * Errors: ETIMEDOUT, ENOMEM, and as wait. */
int tollbar_mpi_barrier_wait_for(tollbar_mpi_barrier* barrier, unsigned thread, int64_t nanoseconds);

/* Lists the members that have not arrived in the current episode of `thread`: the threads of this rank; once all of
 * these have arrived, and where `thread` is the messenger, the ranks of which it has not heard, with `thread_number`
 * -1. Called by the thread that uses the number. Errors: EINVAL, ENOMEM. */
int tollbar_mpi_barrier_missing(const tollbar_mpi_barrier* barrier, unsigned thread, tollbar_missing* missing,
                                size_t capacity, size_t* count);

/* The spellings of what runs among the threads and among the ranks. Valid until the barrier is destroyed; NULL for
 * NULL. */
const char* tollbar_mpi_barrier_inner(const tollbar_mpi_barrier* barrier);
const char* tollbar_mpi_barrier_outer(const tollbar_mpi_barrier* barrier);

/* The messenger of the barrier; TOLLBAR_MPI_FIRST_THREAD for NULL. */
tollbar_mpi_messenger tollbar_mpi_barrier_messenger(const tollbar_mpi_barrier* barrier);

/* One line about the calling thread's last failed call of these functions: what was wrong and what is accepted; ""
 * before the first failure. Valid until the thread's next failure. */
const char* tollbar_mpi_last_error(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
