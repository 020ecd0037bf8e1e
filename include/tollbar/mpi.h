/* SPDX-License-Identifier: Apache-2.0 */
/* The combined barrier: all threads of all ranks of an MPI communicator meet. Link with the library made for your MPI:
 * -ltollbar_mpi_openmpi, -ltollbar_mpi_mpich or -ltollbar_mpi_abi. */
#ifndef TOLLBAR_MPI_H
#define TOLLBAR_MPI_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Threads inside ranks: the threads of a rank arrive at each other, one of them (the messenger) meets the other ranks,
 * then the threads are released.
 *
 *     tollbar_mpi_barrier* barrier;
 *     tollbar_mpi_barrier_create(MPI_COMM_WORLD, threads, NULL, &barrier);
 *     ...in thread t of every rank, 0 <= t < threads...
 *     tollbar_mpi_barrier_arrive_and_wait(barrier, t);
 *     ...in one thread of every rank...
 *     tollbar_mpi_barrier_destroy(barrier);
 *
 * Who the messenger is follows from what MPI_Init_thread gave:
 *
 *     MPI_THREAD_SINGLE       nobody: only 1 thread a rank is accepted
 *     MPI_THREAD_FUNNELED     thread 0, which must be the main thread
 *     MPI_THREAD_SERIALIZED   the last thread to arrive with inner "turnstile", else thread 0
 *     MPI_THREAD_MULTIPLE     the same
 *
 * No other thread makes an MPI call in here. With MPI_THREAD_SERIALIZED no thread may make one elsewhere while the
 * messenger is inside a call of these.
 *
 * A function of type int returns 0 or an errno value (tollbar_strerror of tollbar.h says what it means), never an MPI
 * error code; a failed call leaves one line in tollbar_mpi_last_error(). EAGAIN ("not yet") is an answer and leaves
 * none.
 *
 * Waiting follows TOLLBAR_WAIT; by default nobody spins while the node has more threads in the barrier than CPUs. While
 * the messenger waits, the MPI goes on with whatever else it has to do. With TOLLBAR_TIMEOUT=S the missing threads and
 * ranks are named on stderr every S seconds.
 *
 * Memory order: what a thread did before it arrived is visible to every thread of every rank that shares the memory
 * once its wait for (or successful test of) the same episode has returned. */

typedef struct tollbar_mpi_barrier tollbar_mpi_barrier;

/* All zero (or a NULL pointer to it) means: choose for me. */
typedef struct tollbar_mpi_barrier_options {
    /* Among the threads of this rank: "turnstile", a catalogue spelling ("mcs:4,2") or "combination[:PROCESSORS]".
     * NULL or "": turnstile. May differ from rank to rank. */
    const char* inner;
    /* Among the ranks: a catalogue spelling, "turnstile" or "turnstile/PLAN" (the ranks of a node meet at a word, the
     * first of each node runs PLAN; "turnstile/card:PLAN": its network card does). NULL or "": TOLLBAR_PLAN, else
     * chosen. Rank 0's counts. */
    const char* outer;
} tollbar_mpi_barrier_options;

/* Which thread meets the other ranks. */
typedef enum tollbar_mpi_messenger {
    TOLLBAR_MPI_FIRST_THREAD = 0,  /* thread 0 */
    TOLLBAR_MPI_LAST_TO_ARRIVE = 1 /* whichever thread is last in an episode */
} tollbar_mpi_messenger;

/* Makes a barrier of `threads` threads in each rank of `comm`; the number may differ from rank to rank. Collective over
 * `comm`, by one thread of each rank that may call MPI; the communicator is duplicated, and may be freed. `options` may
 * be NULL. Errors, where one rank's fault is every rank's result unless it keeps the rank from talking at all:
 * EINVAL (threads, inner, outer, no communicator, an intercommunicator, MPI not running), ENOTSUP (more than one thread
 * with MPI_THREAD_SINGLE), EPERM (with MPI_THREAD_FUNNELED: not called by the main thread), EIO (the MPI refused),
 * ENOMEM and others of set-up. */
int tollbar_mpi_barrier_create(MPI_Comm comm, unsigned threads, const tollbar_mpi_barrier_options* options,
                               tollbar_mpi_barrier** barrier);

/* Collective like create. No other call for this barrier may be running or come later, no episode be under way. NULL is
 * allowed and does nothing. To be called before MPI_Finalize. */
void tollbar_mpi_barrier_destroy(tollbar_mpi_barrier* barrier);

/* Enters the next episode and blocks until all threads of all ranks have. `thread` is the caller's number; one thread
 * at a time may use a number. Errors: EINVAL (no such thread; between arrive and wait), EPERM (thread 0 is not the main
 * thread, with MPI_THREAD_FUNNELED), ENOMEM, EPIPE (the nodes met on network cards, and the daemon of this node's card
 * is gone: the barrier was not gone through, and will not be). */
int tollbar_mpi_barrier_arrive_and_wait(tollbar_mpi_barrier* barrier, unsigned thread);

/* Enters the next episode. Never blocks. The messenger needs to test or wait afterwards for the others to get on, and
 * some inner plans need every thread to. Errors: as arrive_and_wait. */
int tollbar_mpi_barrier_arrive(tollbar_mpi_barrier* barrier, unsigned thread);

/* Goes on without blocking: 0 when the episode is over, EAGAIN when it is not. Errors: EINVAL (no such thread, test
 * without arrive), EPIPE as arrive_and_wait. */
int tollbar_mpi_barrier_test(tollbar_mpi_barrier* barrier, unsigned thread);

/* Blocks until the episode is over; at once when a test has said so. Errors: as test. */
int tollbar_mpi_barrier_wait(tollbar_mpi_barrier* barrier, unsigned thread);

/* The spellings of what runs among the threads and among the ranks. Valid until the barrier is destroyed; NULL for
 * NULL. */
const char* tollbar_mpi_barrier_inner(const tollbar_mpi_barrier* barrier);
const char* tollbar_mpi_barrier_outer(const tollbar_mpi_barrier* barrier);

/* Who goes outside; TOLLBAR_MPI_FIRST_THREAD for NULL. */
tollbar_mpi_messenger tollbar_mpi_barrier_messenger(const tollbar_mpi_barrier* barrier);

/* One line that says what was wrong with the calling thread's last failed call of these and what is accepted; ""
 * before the first. Valid until the thread's next failure. */
const char* tollbar_mpi_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
