/* SPDX-License-Identifier: Apache-2.0
 * The barriers that were begun and are not over, for MPI_Ibarrier and persistent requests: a queue for each
 * participant, in the order the barriers were begun in, and one lock over all queues of the process. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_PENDING_H
#define TOLLBAR_DOORS_OMPI_COLL_PENDING_H

#include "communicator/participant.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tollbar_queue;

struct tollbar_pending {
    uint64_t episode; /* 0: not one of the participant's, but its ranks' meeting, or one that begins behind that */
    void (*end)(struct tollbar_pending*); /* has the host find it over; called without the lock */
    int failed; /* once over: what tollbar_mpi_failed says of it, or why there is no episode */
    double since_s;
    double report_at_s;
    struct tollbar_pending* next;
};

/* Lives until everything in it has been ended. */
struct tollbar_queue {
    tollbar_mpi_participant* participant; /* may be NULL as long as nothing is in the queue, or the ranks meet */
    tollbar_mpi_joining* joining;         /* the first in the queue is the meeting of the ranks; else NULL */
    /* The meeting is over, with that result of tollbar_mpi_go_on_joining; may leave another participant, or none: then
     * all others in the queue fail, too. Under the lock, or while the queue is held. */
    void (*joined)(struct tollbar_queue*, int failed);
    double timeout_s; /* tollbar_pending_advance says after so long who is missing; 0: never */
    uint32_t count;   /* how many there are */
    int held;         /* somebody waits in the participant, so nobody else may look at it */
    struct tollbar_pending* first;
    struct tollbar_pending* last;
    struct tollbar_queue* next;
};

/* Whether anything is in this queue; if not, the participant is its user's alone. Memory order: acquire when zero;
 * pairs with the end of the last one. */
static inline int tollbar_queue_is_pending(const struct tollbar_queue* queue) {
    return __atomic_load_n(&queue->count, __ATOMIC_ACQUIRE) != 0;
}

/* The lock guards all queues, the participants of queues with anything in them that nobody holds, and what else a door
 * has to guard. A door holds it for a few instructions. Memory order: acquire; pairs with tollbar_release_lock(). */
void tollbar_take_lock(void);

/* Memory order: release; pairs with the one above. */
void tollbar_release_lock(void);

/* Under the lock: `some` is called when the first one of all becomes pending, `none` when the last one is over. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
void tollbar_pending_watch(void (*some)(void), void (*none)(void));

/* Under the lock: becomes the last of its queue. */
void tollbar_pending_put_on(struct tollbar_pending* pending, struct tollbar_queue* queue);

/* Takes off and ends all that are over, unless another thread has the lock; returns how many. For whatever makes
 * progress; never blocks. */
int tollbar_pending_advance(void);

/* Waits for those in the queue up to `last`, or for all if it is NULL, and ends each as soon as it is over. Memory
 * order: as tollbar_mpi_wait. */
void tollbar_queue_finish(struct tollbar_queue* queue, const struct tollbar_pending* last);

#ifdef __cplusplus
}
#endif

#endif
