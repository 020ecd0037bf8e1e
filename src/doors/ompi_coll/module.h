/* SPDX-License-Identifier: Apache-2.0
 * One communicator's barrier inside Open MPI: made with the communicator, set up by its first barrier, used, and taken
 * down with it. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_MODULE_H
#define TOLLBAR_DOORS_OMPI_COLL_MODULE_H

#include "pending.h"
#include "pml_p2p.h"

#include <ompi_config.h>

#include <ompi/mca/coll/coll.h>

#include <pthread.h>
#include <stdbool.h>

/* Whether the ranks of the communicator have met; the same on every rank between two barriers of it. */
enum tollbar_stage {
    TOLLBAR_FRESH = 0, /* they have not, and may */
    TOLLBAR_MET,       /* the participant is there */
    TOLLBAR_DECLINED   /* could not be had: the previous owner's barrier from now on */
};

struct tollbar_module {
    mca_coll_base_module_t super;
    struct ompi_communicator_t* comm;
    /* The requests pending. Its participant is that of the ranks that have met; or one that has met nobody, as long as
     * they meet in an MPI_Barrier alone, for an MPI_Ibarrier may not wait for them. */
    struct tollbar_queue queue;
    bool meets_in_barriers;            /* only, as an MPI_Ibarrier has found out */
    struct tollbar_pml_state messages; /* of the participant */
    enum tollbar_stage stage;
    pthread_mutex_t turn; /* of the thread in a barrier, where there may be several */

    /* The owner of the barrier before us. */
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_t* barrier_module;
    mca_coll_base_module_barrier_init_fn_t barrier_init;
    mca_coll_base_module_t* barrier_init_module;

    struct tollbar_mpi_options options;
    uint64_t barriers; /* how often it was used, by kind */
    uint64_t requests;
    uint64_t by_messages;
};

OBJ_CLASS_DECLARATION(tollbar_module);
typedef struct tollbar_module tollbar_module;

/* Maps a participant's error (0: none) to Open MPI's return code; Open MPI hands that to the communicator's error
 * handler. */
static inline int tollbar_result(const struct tollbar_pml_state* messages, int failed) {
    if (!failed) return OMPI_SUCCESS;
    return messages->error != MPI_SUCCESS ? messages->error : MPI_ERR_OTHER;
}

#endif
