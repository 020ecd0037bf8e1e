/* SPDX-License-Identifier: Apache-2.0
 * A component that only some ranks load, or give way to another one, would wait for ranks that are in another's
 * barrier. The result for MPI_COMM_WORLD is kept, since looking for it takes a while. */
#include "everybody.h"

#if OMPI_MAJOR_VERSION < 5
#    include <opal/mca/pmix/pmix.h>
#    define TOLLBAR_TO_ALL OPAL_PMIX_GLOBAL
#    define TOLLBAR_NUMBER OPAL_INT32
#else
#    include <opal/mca/pmix/pmix-internal.h>
#    define TOLLBAR_TO_ALL PMIX_GLOBAL
#    define TOLLBAR_NUMBER PMIX_INT32
#endif

#include <stdbool.h>
#include <stdint.h>

static char key[] = "tollbar.coll";
static int32_t published = -1;
static bool published_by_the_job; /* by every rank of this rank's MPI_COMM_WORLD */

void tollbar_publish_priority(int priority) {
    int failed;
    published = priority;
    OPAL_MODEX_SEND_VALUE(failed, TOLLBAR_TO_ALL, key, &published, TOLLBAR_NUMBER);
    if (failed) published = -1;
}

static bool has_published(opal_process_name_t name) {
    int32_t theirs = -1, *into = &theirs;
    int failed;
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(failed, key, &name, &into, TOLLBAR_NUMBER);
    return !failed && theirs == published;
}

int tollbar_everybody_is_here(struct ompi_communicator_t* comm) {
    const uint32_t job = opal_proc_local_get()->proc_name.jobid;
    const int ranks = ompi_comm_size(comm);
    if (published < 0) return 0;
    bool all = true;
    for (int rank = 0; rank < ranks && all; ++rank) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        all = (published_by_the_job && name.jobid == job) || has_published(name);
    }
    published_by_the_job |= all && comm == &ompi_mpi_comm_world.comm;
    return all;
}
