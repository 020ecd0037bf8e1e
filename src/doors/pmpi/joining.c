/* SPDX-License-Identifier: Apache-2.0
 * Opens what carries the messages of a communicator, and has its ranks join. */
#include "joining.h"

#include "everybody.h"
#include "failures.h"
#include "wanted.h"

#include "base/environment.h"
#include "transports/mpi/family.h"
#include "transports/mpi/host_mpi.h"
#include "transports/mpi/pmpi_p2p.h"

#include <errno.h>

/* All ranks of MPI_COMM_WORLD; it carries our messages only. In use when no rank has several threads in the MPI at
 * once, see tollbar_pmpi_p2p_open_through(). */
static MPI_Comm private_comm;
static int private_comm_is_open;

void tollbar_open_private_comm(int level) {
    int highest = MPI_THREAD_MULTIPLE;
    if (PMPI_Allreduce(&level, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS) return;
    /* After a failure messages may be left over that would match another communicator's. */
    if (highest == MPI_THREAD_MULTIPLE || tollbar_failures() != NULL) return;
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &private_comm) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(private_comm, MPI_ERRORS_RETURN);
    private_comm_is_open = 1;
}

void tollbar_close_private_comm(void) {
    if (private_comm_is_open) PMPI_Comm_free(&private_comm);
    private_comm_is_open = 0;
}

/* Through the private communicator if there is one; else the ranks get a communicator of their own. Unlike MPI_Comm_dup
 * its making calls no copy function of the user's. */
static int open_p2p(MPI_Comm comm, struct tollbar_joined* self) {
    enum { unlikely_tag = 32749 }; /* of another MPI_Comm_create_group that a thread may be in */
    self->messages = MPI_COMM_NULL;
    if (private_comm_is_open) return tollbar_pmpi_p2p_open_through(comm, private_comm, &self->p2p);
    MPI_Group group;
    int refused = PMPI_Comm_group(comm, &group);
    if (refused != MPI_SUCCESS) return refused;
    refused = tollbar_mpi_makes_one_at_a_time && tollbar_failures() == NULL
                  ? PMPI_Comm_create_group(comm, group, unlikely_tag, &self->messages)
                  : PMPI_Comm_create(comm, group, &self->messages);
    PMPI_Group_free(&group);
    if (refused != MPI_SUCCESS) return refused;
    refused = tollbar_pmpi_p2p_open(self->messages, &self->p2p);
    if (refused != MPI_SUCCESS) PMPI_Comm_free(&self->messages);
    return refused;
}

/* Ranks may come here at different times. MPI_Comm_free is collective in name; MPI-4.0, 7.4.3 anticipates that it is
 * local, and in every MPI that is served here it waits for nobody (tests/faults/freed_apart.c). */
static void close_p2p(struct tollbar_joined* self) {
    tollbar_pmpi_p2p_close(&self->p2p);
    if (self->messages != MPI_COMM_NULL) PMPI_Comm_free(&self->messages);
}

/* Another rank of the node may have seen it a moment earlier. */
int tollbar_code_of(const struct tollbar_joined* self, int failed) {
    enum { most_looks = 250 };
    int64_t since_ns = 0;
    for (int looks = tollbar_failures() != NULL && failed == EIO ? most_looks : 1; looks > 0; --looks) {
        const int code = self->p2p.error(self->p2p.state);
        if (code != MPI_SUCCESS) return code;
        if (looks == 1) break;
        self->p2p.progress(self->p2p.state);
        tollbar_mpi_pass_time(&since_ns);
    }
    return MPI_ERR_OTHER;
}

int tollbar_join(MPI_Comm comm, struct tollbar_joined* self, const void* call_site) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int between_groups = 0, ranks = 0, length = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    PMPI_Comm_size(comm, &ranks);
    if (between_groups || ranks < 2 || !tollbar_all_are_of_world(comm)) return MPI_SUCCESS;
    const tollbar_look look = tollbar_failures();
    if (look != NULL && look(comm) != MPI_SUCCESS) return MPI_SUCCESS; /* the MPI's own barrier says what is wrong */
    const int refused = open_p2p(comm, self);
    if (refused != MPI_SUCCESS) return refused;
    if (look != NULL) tollbar_pmpi_p2p_watch(&self->p2p, comm, look);
    self->may_be_revoked = look != NULL;
    PMPI_Comm_get_name(comm, name, &length);
    const struct tollbar_mpi_options options = {.name = name,
                                                .mpi = tollbar_mpi_key(),
                                                .otherwise = "the MPI's own barrier is used",
                                                .budget_ms = -1,
                                                .timeout_s = tollbar_mpi_is_watched() ? 0 : tollbar_timeout(),
                                                .barriers_before = 1,
                                                .call_site = call_site};
    const int failed = tollbar_mpi_join(&self->p2p, &options, &self->participant);
    if (failed == 0) return MPI_SUCCESS;
    const int code = failed == EIO ? tollbar_code_of(self, failed) : MPI_SUCCESS;
    self->participant = NULL;
    close_p2p(self);
    return code;
}

void tollbar_watch_no_more(struct tollbar_joined* self) {
    if (self->participant != NULL) tollbar_pmpi_p2p_watch(&self->p2p, MPI_COMM_NULL, NULL);
}

void tollbar_leave(struct tollbar_joined* self) {
    if (self->participant == NULL) return;
    tollbar_mpi_leave(self->participant);
    self->participant = NULL;
    close_p2p(self);
}
