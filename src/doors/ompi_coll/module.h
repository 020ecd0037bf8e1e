/* SPDX-License-Identifier: Apache-2.0
 * One communicator's barrier inside Open MPI: made with the communicator, set up by its first MPI_Barrier, used, and
 * taken down with it. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_MODULE_H
#define TOLLBAR_DOORS_OMPI_COLL_MODULE_H

#include "communicator/participant.h"

#include <ompi_config.h>

#include <ompi/mca/coll/coll.h>

struct tollbar_request;

/* Whether the ranks of the communicator have met; the same on every rank between two barriers of it. */
enum tollbar_stage {
    TOLLBAR_FRESH = 0, /* no MPI_Barrier yet */
    TOLLBAR_MET,       /* the participant is there */
    TOLLBAR_DECLINED   /* could not be had: the previous owner's barrier from now on */
};

struct tollbar_module {
    mca_coll_base_module_t super;
    struct ompi_communicator_t* comm;
    tollbar_mpi_participant* participant; /* of the ranks that have met */
    tollbar_mpi_participant* by_messages; /* for MPI_Ibarrier, which may not wait, while they have not */
    enum tollbar_stage stage;
    double timeout_s; /* then somebody is told who is missing; 0: never */

    /* The requests pending, in the order they were started in; changed under the lock in request.c. */
    uint32_t pending;
    struct tollbar_request* first;
    struct tollbar_request* last;
    struct tollbar_module* next_pending;
    int held; /* somebody waits for them in here: the progress callback leaves them alone */

    /* Who had the barrier before us. */
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_t* barrier_module;
    mca_coll_base_module_barrier_init_fn_t barrier_init;
    mca_coll_base_module_t* barrier_init_module;

    struct tollbar_mpi_options options;
    uint64_t barriers; /* how often it was used, by kind */
    uint64_t requests;
    uint64_t early;
};

OBJ_CLASS_DECLARATION(tollbar_module);
typedef struct tollbar_module tollbar_module;

#endif
