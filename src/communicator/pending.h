/* SPDX-License-Identifier: Apache-2.0
 * The barriers that were begun and are not over, for doors whose host has requests: a row for each participant, in the
 * order the barriers were begun in, and one lock over all rows of the process. */
#ifndef TOLLBAR_COMMUNICATOR_PENDING_H
#define TOLLBAR_COMMUNICATOR_PENDING_H

#include "participant.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tollbar_row;

struct tollbar_pending {
    struct tollbar_row* row; /* NULL: it is not pending */
    uint64_t episode;
    int (*over)(struct tollbar_pending*); /* for one without an episode: whether it is over; called under the lock */
    void (*end)(struct tollbar_pending*); /* has the host find it over; called without the lock */
    int claimed;                          /* somebody waits for it and takes it off; tollbar_pending_advance does not */
    int failed;                           /* once taken off: what tollbar_mpi_failed says of it */
    double since_s;
    double report_at_s;
    struct tollbar_pending* next;
};

struct tollbar_row {
    tollbar_mpi_participant* participant; /* may be NULL as long as nothing in the row has an episode */
    double timeout_s;                     /* tollbar_pending_advance says after so long who is missing; 0: never */
    uint32_t count;                       /* how many there are */
    int held;                             /* somebody waits in the participant, so nobody else may look at it */
    struct tollbar_pending* first;
    struct tollbar_pending* last;
    struct tollbar_row* next;
};

/* Nonzero when several threads may be here at once; set before anything else is used. */
extern int tollbar_threaded;

/* Under the lock: the rows in which something is pending. */
extern struct tollbar_row* tollbar_rows;

/* How many are pending in all rows. */
extern uint32_t tollbar_pending_count;

/* Whether anything is. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
static inline int tollbar_anything_pending(void) {
    return __atomic_load_n(&tollbar_pending_count, __ATOMIC_RELAXED) != 0;
}

/* Whether anything is in this row; if not, the participant is its user's alone. Memory order: acquire when zero; pairs
 * with the end of the last one. */
static inline int tollbar_row_is_pending(const struct tollbar_row* row) {
    return __atomic_load_n(&row->count, __ATOMIC_ACQUIRE) != 0;
}

/* The lock guards all rows, the participants of rows with anything in them that nobody holds, and what else a door has
 * to guard. Held for a few instructions, or while the host tests a request of its own; the progress that this makes
 * does not wait for it. Memory order: acquire; pairs with tollbar_release_lock(). */
void tollbar_take_lock(void);

/* Memory order: release; pairs with the one above. */
void tollbar_release_lock(void);

/* Under the lock: `some` is called when the first one of all becomes pending, `none` when the last one is taken off. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
void tollbar_pending_watch(void (*some)(void), void (*none)(void));

/* Under the lock: becomes the last of its row. */
void tollbar_pending_put_on(struct tollbar_pending* pending, struct tollbar_row* row);

/* Under the lock, or holding the row: whether it is over. Memory order: as tollbar_mpi_test. */
int tollbar_pending_is_over(struct tollbar_pending* pending);

/* Under the lock, for one that is over. Memory order: release: what was done with the participant is before whoever
 * finds that nothing is pending. */
void tollbar_pending_take_off(struct tollbar_pending* pending);

/* Takes off and ends all that are over, unless another thread has the lock; returns how many. For whatever makes
 * progress; never blocks. */
int tollbar_pending_advance(void);

/* Waits in the participant of a row, politely and naming the missing. The row is held meanwhile. Memory order: as
 * tollbar_mpi_wait. */
void tollbar_row_wait(struct tollbar_row* row, uint64_t episode);

/* Waits for those in the row up to `last`, or for all if it is NULL, and ends each as soon as it is over. All of them
 * have an episode. Memory order: as tollbar_mpi_wait. */
void tollbar_row_finish(struct tollbar_row* row, const struct tollbar_pending* last);

/* Forgets all that are pending; nobody waits for them any more. */
void tollbar_pending_forget(void);

#ifdef __cplusplus
}
#endif

#endif
