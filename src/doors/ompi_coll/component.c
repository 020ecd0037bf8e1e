/* SPDX-License-Identifier: Apache-2.0
 * The component as Open MPI finds it: mca_coll_tollbar.so with the one symbol mca_coll_tollbar_component; and the life
 * of its modules: Open MPI queries, enables, uses and destroys them; the ranks meet in between, when first used. */
#include "everybody.h"
#include "module.h"
#include "parameters.h"
#include "request.h"

#include "base/environment.h"
#include "base/say.h"
#include "missing/call_site.h"

#include <ompi/communicator/communicator.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if OMPI_MAJOR_VERSION < 5
#    define TOLLBAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#elif OMPI_MAJOR_VERSION == 5
#    define TOLLBAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#    define TOLLBAR_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
#endif

/* Threads may be in the MPI at once. A program must not have two of them in one communicator's collective calls, but
 * one that does comes through with Open MPI's own barriers: here they take turns. */
static bool several_threads;

static char running[64] = "openmpi"; /* such as "openmpi-4.1.4", the Open MPI that runs */

static void construct(tollbar_module* module) {
    memset((char*)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    pthread_mutex_init(&module->turn, NULL);
}

static void release(mca_coll_base_module_t* module) {
    if (module != NULL) OBJ_RELEASE(module);
}

/* Requests keep the communicator, and the communicator keeps its module: nothing is pending here. */
static void destruct(tollbar_module* module) {
    const unsigned long long uses = module->barriers + module->requests + module->by_messages;
    if (uses != 0 && tollbar_verbosity() >= 2)
        tollbar_say("%s, rank %d of %d: %llu barriers, %llu requests, %llu requests by messages, by %s",
                    module->comm->c_name, ompi_comm_rank(module->comm), ompi_comm_size(module->comm),
                    (unsigned long long)module->barriers, (unsigned long long)module->requests,
                    (unsigned long long)module->by_messages,
                    module->stage == TOLLBAR_MET ? tollbar_mpi_plan(module->queue.participant) : "messages");
    tollbar_mpi_leave(module->queue.participant);
    free((char*)module->options.plan);
    release(module->barrier_module);
    release(module->barrier_init_module);
    pthread_mutex_destroy(&module->turn);
}

OBJ_CLASS_INSTANCE(tollbar_module, mca_coll_base_module_t, construct, destruct);

/* Collective: the ranks meet, which is a barrier if it works. The stage afterwards is the same on every rank; where the
 * result is an error, the ranks have not met. */
static int meet(tollbar_module* module, uint32_t barriers) {
    tollbar_mpi_leave(module->queue.participant);
    module->queue.participant = NULL;
    const struct tollbar_p2p p2p = tollbar_pml_p2p(&module->messages, module->comm);
    module->options.barriers_before = barriers;
    module->options.call_site = barriers != 0 && module->queue.timeout_s > 0 ? tollbar_mpi_call_site() : NULL;
    const int failed = tollbar_mpi_join(&p2p, &module->options, &module->queue.participant);
    module->stage = failed ? TOLLBAR_DECLINED : TOLLBAR_MET;
    return tollbar_result(&module->messages, failed == EIO);
}

/* All but the straight way: the first time, requests pending, reports wanted, declined. */
static int barrier_otherwise(tollbar_module* module) {
    tollbar_requests_finish(module);
    const int fresh = module->stage == TOLLBAR_FRESH;
    const int refused = fresh ? meet(module, 1) : OMPI_SUCCESS;
    if (refused) return refused;
    if (module->stage != TOLLBAR_MET) return module->barrier(module->comm, module->barrier_module);
    ++module->barriers;
    if (fresh) return OMPI_SUCCESS;
    const void* site = module->queue.timeout_s > 0 ? tollbar_mpi_call_site() : NULL;
    return tollbar_result(&module->messages, tollbar_mpi_arrive_and_wait(module->queue.participant, site));
}

static int barrier_of(tollbar_module* module) {
    const int straight = module->stage == TOLLBAR_MET && module->queue.timeout_s == 0 &&
                         !tollbar_queue_is_pending(&module->queue);
    if (OPAL_UNLIKELY(!straight)) return barrier_otherwise(module);
    ++module->barriers;
    return tollbar_result(&module->messages, tollbar_mpi_arrive_and_wait(module->queue.participant, NULL));
}

/* Memory order: what any rank wrote before it called this is visible to every rank after it returns. */
static int barrier(struct ompi_communicator_t* comm, mca_coll_base_module_t* super) {
    tollbar_module* module = (tollbar_module*)super;
    (void)comm;
    if (OPAL_LIKELY(!several_threads)) return barrier_of(module);
    pthread_mutex_lock(&module->turn);
    const int result = barrier_of(module);
    pthread_mutex_unlock(&module->turn);
    return result;
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
        const int refused = meet(module, 0);
        if (refused) return refused;
    }
    int ours = 0, refused = OMPI_SUCCESS;
    if (module->stage == TOLLBAR_MET) refused = tollbar_request_persistent(module, request, &ours);
    if (ours) return refused;
    refused = module->barrier_init(comm, info, request, module->barrier_init_module);
    if (refused == OMPI_SUCCESS) tollbar_request_keep(comm, *request);
    return refused;
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
    module->options.name = comm->c_name;
    module->barrier = now->coll_barrier;
    module->barrier_module = retained(now->coll_barrier_module);
    if (now->coll_barrier_init == NULL) {
        module->super.coll_barrier_init = NULL;
    } else {
        module->barrier_init = now->coll_barrier_init;
        module->barrier_init_module = retained(now->coll_barrier_init_module);
    }
    tollbar_requests_open();
#if OMPI_MAJOR_VERSION > 5 /* a module puts its functions into the communicator itself */
    MCA_COLL_INSTALL_API(comm, barrier, super->coll_barrier, super, "tollbar");
    MCA_COLL_INSTALL_API(comm, ibarrier, super->coll_ibarrier, super, "tollbar");
    if (super->coll_barrier_init != NULL)
        MCA_COLL_INSTALL_API(comm, barrier_init, super->coll_barrier_init, super, "tollbar");
#endif
    return OMPI_SUCCESS;
}

static mca_coll_base_module_t* query(struct ompi_communicator_t* comm, int* priority) {
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || !tollbar_everybody_is_here(comm)) return NULL;
    tollbar_module* module = OBJ_NEW(tollbar_module);
    if (module == NULL) return NULL;
    *priority = tollbar_parameters_priority();
    module->options = tollbar_parameters_options();
    module->options.mpi = running;
    module->options.otherwise = "the MPI's own barrier is used";
    module->queue.timeout_s = module->options.timeout_s;
    module->super.coll_module_enable = enable;
    module->super.coll_barrier = barrier;
    module->super.coll_ibarrier = ibarrier;
    module->super.coll_barrier_init = barrier_init;
    return &module->super;
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads) {
    (void)enable_progress_threads;
    several_threads = enable_mpi_threads;
    return OMPI_SUCCESS;
}

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_tollbar_component;

/* A component fits its own series of Open MPI only. Asks the MPI library itself, which may be asked before MPI_Init. */
static int series_fits(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int major = 0, minor = 0, release = 0;
    if (PMPI_Get_library_version(text, &(int){0}) == MPI_SUCCESS &&
        sscanf(text, "Open MPI v%d.%d.%d", &major, &minor, &release) >= 2)
        snprintf(running, sizeof running, "openmpi-%d.%d.%d", major, minor, release);
    if (major == OMPI_MAJOR_VERSION && minor == OMPI_MINOR_VERSION) return 1;
    if (tollbar_first_of_job())
        tollbar_say(
            "mca_coll_tollbar.so was built for Open MPI %d.%d and this is %d.%d: Open MPI's own barrier is "
            "used; build it with this Open MPI's headers, or preload libtollbar_mpi_openmpi.so",
            OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, major, minor);
    return 0;
}

/* Open MPI asks this first; it looks only at the version of its interface to components, not at its own. */
static int register_parameters(void) {
    if (!series_fits()) return OPAL_ERR_NOT_AVAILABLE;
    return tollbar_parameters_register(&mca_coll_tollbar_component.collm_version);
}

/* In MPI_Init, before Open MPI's exchange. */
static int open_component(void) {
    tollbar_publish_priority(tollbar_parameters_priority());
    return OMPI_SUCCESS;
}

static int close_component(void) {
    tollbar_requests_close();
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_tollbar_component = {
    .collm_version =
        {
            TOLLBAR_COLL_VERSION,
            .mca_component_name = "tollbar",
            MCA_BASE_MAKE_VERSION(component, TOLLBAR_VERSION_MAJOR, TOLLBAR_VERSION_MINOR, TOLLBAR_VERSION_PATCH),
            .mca_open_component = open_component,
            .mca_close_component = close_component,
            .mca_register_component_params = register_parameters,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = query,
};
