/* SPDX-License-Identifier: Apache-2.0
 * The component's MCA parameters, coll_tollbar_*: registered with Open MPI, read anew for every communicator. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_PARAMETERS_H
#define TOLLBAR_DOORS_OMPI_COLL_PARAMETERS_H

#include "doors/mpi/participant.h"

#include <ompi_config.h>

#include <opal/mca/base/base.h>

int tollbar_parameters_register(const mca_base_component_t* component);

/* The priority that is set now, between 0 and 100. */
int tollbar_parameters_priority(int speaks);

/* What is set now, for one communicator. A value that makes no sense is named on stderr once, by the rank that
 * `speaks`, and the default taken. The caller frees `plan`. */
struct tollbar_mpi_options tollbar_parameters_options(int speaks);

#endif
