/* SPDX-License-Identifier: Apache-2.0
 * A component that only some ranks load, or give way to another one, would wait for ranks that are in another's
 * barrier. What MPI_COMM_WORLD is found to have is kept, since looking for it takes a while. */
#include "everybody.h"

#if OMPI_MAJOR_VERSION < 5
#    include <opal/mca/pmix/pmix.h>
#    define TOLLBAR_TO_EVERYBODY OPAL_PMIX_GLOBAL
#    define TOLLBAR_NUMBER OPAL_INT32
#else
#    include <opal/mca/pmix/pmix-internal.h>
#    define TOLLBAR_TO_EVERYBODY PMIX_GLOBAL
#    define TOLLBAR_NUMBER PMIX_INT32
#endif

#include <stdbool.h>
#include <stdint.h>

static char key[] = "tollbar.coll";
static int32_t told = -1;
static bool told_by_the_job; /* by every rank of this rank's MPI_COMM_WORLD */

void tollbar_tell_everybody(int priority) {
    int failed;
    told = priority;
    OPAL_MODEX_SEND_VALUE(failed, TOLLBAR_TO_EVERYBODY, key, &told, TOLLBAR_NUMBER);
    if (failed) told = -1;
}

static bool has_told(opal_process_name_t name) {
    int32_t theirs = -1, *into = &theirs;
    int failed;
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(failed, key, &name, &into, TOLLBAR_NUMBER);
    return !failed && theirs == told;
}

int tollbar_everybody_is_here(struct ompi_communicator_t* comm) {
    const uint32_t job = opal_proc_local_get()->proc_name.jobid;
    const int ranks = ompi_comm_size(comm);
    if (told < 0) return 0;
    bool all = true;
    for (int rank = 0; rank < ranks && all; ++rank) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        all = (told_by_the_job && name.jobid == job) || has_told(name);
    }
    told_by_the_job |= all && comm == &ompi_mpi_comm_world.comm;
    return all;
}
