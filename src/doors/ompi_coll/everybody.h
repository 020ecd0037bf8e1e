/* SPDX-License-Identifier: Apache-2.0
 * Whether every rank of a communicator has this component, as Open MPI's exchange at the beginning says. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_EVERYBODY_H
#define TOLLBAR_DOORS_OMPI_COLL_EVERYBODY_H

#include <ompi_config.h>

#include <ompi/communicator/communicator.h>

/* Before Open MPI's exchange: this rank has it, at that priority. */
void tollbar_publish_priority(int priority);

/* Local: whether every rank has published the same as this one. The same answer on all that ask. */
int tollbar_everybody_is_here(struct ompi_communicator_t* comm);

#endif
