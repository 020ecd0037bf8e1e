/* SPDX-License-Identifier: Apache-2.0
 * The component's MCA parameters, coll_tollbar_*: registered with Open MPI, read anew for every communicator. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_PARAMETERS_H
#define TOLLBAR_DOORS_OMPI_COLL_PARAMETERS_H

#include "communicator/participant.h"

#include <ompi_config.h>

#include <opal/mca/base/base.h>

int tollbar_parameters_register(const mca_base_component_t* component);

/* The priority that is set now, between 0 and 100. */
int tollbar_parameters_priority(void);

/* The options that are set now, for one communicator; without a time-out of its own the one of TOLLBAR_TIMEOUT. A value
 * that is not accepted is named on stderr once, and the default taken. The caller frees `plan`. */
struct tollbar_mpi_options tollbar_parameters_options(void);

#endif
