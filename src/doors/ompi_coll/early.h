/* SPDX-License-Identifier: Apache-2.0
 * An MPI_Ibarrier that comes before the ranks have met. MPI_Ibarrier must not wait for anybody, and meeting does; so
 * such a one runs by messages alone, under a tag of its own. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_EARLY_H
#define TOLLBAR_DOORS_OMPI_COLL_EARLY_H

#include <ompi_config.h>

#include <ompi/communicator/communicator.h>

struct tollbar_early {
    struct ompi_request_t* from;
    struct ompi_request_t* to;
    int tag;
    int stride; /* of the round under way */
    int error;  /* what the MPI refused with, once it has */
};

/* Never blocks. Memory order: release of everything done before. */
void tollbar_early_start(struct tollbar_early* early, struct ompi_communicator_t* comm);

/* Goes on as far as possible; nonzero when the barrier is over, or when error is set. Memory order: acquire of
 * everything any rank did before it started, when nonzero. */
int tollbar_early_over(struct tollbar_early* early, struct ompi_communicator_t* comm);

/* One line on stderr: from whom nothing has come in `waited_s`. */
void tollbar_early_report(const struct tollbar_early* early, struct ompi_communicator_t* comm, double waited_s);

#endif
