/* SPDX-License-Identifier: Apache-2.0
 * The life of a module: Open MPI queries, enables, uses and destroys it; the ranks meet in between, when first used. */
#include "module.h"

#include "call_site.h"
#include "parameters.h"
#include "pml_carrier.h"
#include "request.h"
#include "series.h"
#include "waits.h"

#include <ompi/communicator/communicator.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void construct(tollbar_module* module) {
    memset((char*)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
}

static void release(mca_coll_base_module_t* module) {
    if (module != NULL) OBJ_RELEASE(module);
}

static int verbosity(void) {
    const char* value = getenv("TOLLBAR_VERBOSE");
    return value == NULL ? 0 : atoi(value);
}

/* Requests keep the communicator, and the communicator keeps its module: nothing is pending here. */
static void destruct(tollbar_module* module) {
    const unsigned long long uses = module->barriers + module->requests + module->early;
    if (uses != 0 && verbosity() >= 2)
        fprintf(stderr,
                "tollbar: %s, rank %d of %d: %llu barriers, %llu requests, %llu requests before the first, by %s\n",
                module->comm->c_name, ompi_comm_rank(module->comm), ompi_comm_size(module->comm),
                (unsigned long long)module->barriers, (unsigned long long)module->requests,
                (unsigned long long)module->early,
                module->participant == NULL ? "messages" : tollbar_mpi_plan(module->participant));
    if (module->participant != NULL) tollbar_mpi_leave(module->participant);
    free((char*)module->options.plan);
    release(module->barrier_module);
    release(module->barrier_init_module);
}

OBJ_CLASS_INSTANCE(tollbar_module, mca_coll_base_module_t, construct, destruct);

static double timeout_of(const struct tollbar_mpi_options* options) {
    if (options->timeout_s >= 0) return options->timeout_s;
    const char* value = getenv("TOLLBAR_TIMEOUT");
    const double seconds = value == NULL ? 0 : atof(value);
    return seconds > 0 ? seconds : 0;
}

/* Collective: the ranks meet, which is a barrier if it works. What comes of it is the same on every rank. */
static void meet(tollbar_module* module, uint32_t barriers) {
    const struct tollbar_carrier carrier = tollbar_pml_carrier(module->comm);
    module->options.name = module->comm->c_name;
    module->options.mpi = tollbar_openmpi_running();
    module->options.barriers_before = barriers;
    module->options.call_site = barriers != 0 && module->timeout_s > 0 ? tollbar_call_site() : NULL;
    const int failed = tollbar_mpi_join(&carrier, &module->options, &module->participant);
    if (failed) {
        if (carrier.rank == 0 && verbosity() >= 1)
            fprintf(stderr, "tollbar: %s: %s; Open MPI's own barrier is used\n", module->comm->c_name,
                    strerror(failed));
        module->participant = NULL;
        module->stage = TOLLBAR_DECLINED;
        return;
    }
    module->stage = TOLLBAR_MET;
}

/* Open MPI hands it to the communicator's error handler. */
static int result(int failed) { return failed ? MPI_ERR_OTHER : OMPI_SUCCESS; }

/* All but the straight way: the first time, requests pending, reports wanted, declined. */
static int barrier_otherwise(tollbar_module* module) {
    tollbar_requests_finish(module);
    const int fresh = module->stage == TOLLBAR_FRESH;
    if (fresh) meet(module, 1);
    if (module->stage != TOLLBAR_MET) return module->barrier(module->comm, module->barrier_module);
    ++module->barriers;
    if (fresh) return OMPI_SUCCESS;
    return result(tollbar_mpi_arrive_and_wait(module->participant, module->timeout_s > 0 ? tollbar_call_site() : NULL));
}

/* Memory order: what any rank wrote before it called this is visible to every rank after it returns. */
static int barrier(struct ompi_communicator_t* comm, mca_coll_base_module_t* super) {
    tollbar_module* module = (tollbar_module*)super;
    (void)comm;
    const int straight = module->stage == TOLLBAR_MET && module->timeout_s == 0 &&
                         __atomic_load_n(&module->pending, __ATOMIC_ACQUIRE) == 0; /* pairs with request.c */
    if (OPAL_UNLIKELY(!straight)) return barrier_otherwise(module);
    ++module->barriers;
    return result(tollbar_mpi_arrive_and_wait(module->participant, NULL));
}

static int ibarrier(struct ompi_communicator_t* comm, struct ompi_request_t** request, mca_coll_base_module_t* super) {
    (void)comm;
    return tollbar_request_start_one((tollbar_module*)super, request);
}

/* May wait for the others, as MPI 4.0 allows every persistent collective's initialization to. */
static int barrier_init(struct ompi_communicator_t* comm, struct ompi_info_t* info, struct ompi_request_t** request,
                        mca_coll_base_module_t* super) {
    tollbar_module* module = (tollbar_module*)super;
    if (module->stage == TOLLBAR_FRESH) {
        tollbar_requests_finish(module);
        meet(module, 0);
    }
    if (module->stage != TOLLBAR_MET) return module->barrier_init(comm, info, request, module->barrier_init_module);
    return tollbar_request_persistent(module, request);
}

static mca_coll_base_module_t* retained(mca_coll_base_module_t* module) {
    OBJ_RETAIN(module);
    return module;
}

/* Open MPI enables modules from the lowest priority to the highest: what the communicator has now is what it would
 * have without us. A refusal leaves it at that. */
static int enable(mca_coll_base_module_t* super, struct ompi_communicator_t* comm) {
    tollbar_module* module = (tollbar_module*)super;
    const mca_coll_base_comm_coll_t* now = comm->c_coll;
    if (now->coll_barrier == NULL) return OMPI_ERROR;
    module->comm = comm;
    module->barrier = now->coll_barrier;
    module->barrier_module = retained(now->coll_barrier_module);
    if (now->coll_barrier_init == NULL) {
        module->super.coll_barrier_init = NULL;
    } else {
        module->barrier_init = now->coll_barrier_init;
        module->barrier_init_module = retained(now->coll_barrier_init_module);
    }
    tollbar_waits_install();
    tollbar_series_install(super, comm);
    return OMPI_SUCCESS;
}

mca_coll_base_module_t* tollbar_module_query(struct ompi_communicator_t* comm, int* priority) {
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
    tollbar_module* module = OBJ_NEW(tollbar_module);
    if (module == NULL) return NULL;
    *priority = tollbar_parameters_priority(ompi_comm_rank(comm) == 0);
    module->options = tollbar_parameters_options(ompi_comm_rank(comm) == 0);
    module->timeout_s = timeout_of(&module->options);
    module->super.coll_module_enable = enable;
    module->super.coll_barrier = barrier;
    module->super.coll_ibarrier = ibarrier;
    module->super.coll_barrier_init = barrier_init;
    return &module->super;
}
