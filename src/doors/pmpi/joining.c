/* SPDX-License-Identifier: Apache-2.0
 * Opens what carries the messages of a communicator, and has its ranks join. */
#include "joining.h"

#include "family.h"
#include "host_mpi.h"
#include "runtime/environment.h"
#include "runtime/say.h"
#include "transports/mpi/pmpi_p2p.h"

#include <stdio.h>
#include <string.h>

static void (*progress_of_mpi)(void*);

/* All ranks of MPI_COMM_WORLD, for nobody's messages but ours. Set to use when no rank has several threads in the MPI
 * at once, see tollbar_pmpi_p2p_open_through(). */
static MPI_Comm private_comm;
static int private_comm_is_open;

static void progress(void* state) {
    progress_of_mpi(state);
    tollbar_pending_advance();
}

void tollbar_open_private_comm(void) {
    int level = MPI_THREAD_SINGLE, highest = MPI_THREAD_MULTIPLE;
    static int tried; /* a Fortran name may have called the C name */
    if (tried || !tollbar_fits() || PMPI_Query_thread(&level) != MPI_SUCCESS) return;
    tried = 1;
    if (PMPI_Allreduce(&level, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS) return;
    if (highest == MPI_THREAD_MULTIPLE || PMPI_Comm_dup(MPI_COMM_WORLD, &private_comm) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(private_comm, MPI_ERRORS_RETURN);
    private_comm_is_open = 1;
}

void tollbar_close_private_comm(void) {
    if (private_comm_is_open) PMPI_Comm_free(&private_comm);
    private_comm_is_open = 0;
}

/* Through the private communicator if it reaches all ranks; else they get a communicator of their own. Unlike
 * MPI_Comm_dup its making calls no copy function of the user's. */
static int open_p2p(MPI_Comm comm, struct tollbar_joined* self) {
    self->messages = MPI_COMM_NULL;
    if (private_comm_is_open && tollbar_pmpi_p2p_open_through(comm, private_comm, &self->p2p) == MPI_SUCCESS) return 1;
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    const int refused = PMPI_Comm_create(comm, group, &self->messages);
    PMPI_Group_free(&group);
    if (refused != MPI_SUCCESS) return 0;
    if (tollbar_pmpi_p2p_open(self->messages, &self->p2p) == MPI_SUCCESS) return 1;
    PMPI_Comm_free(&self->messages);
    return 0;
}

static void close_p2p(struct tollbar_joined* self) {
    tollbar_pmpi_p2p_close(&self->p2p);
    if (self->messages != MPI_COMM_NULL) PMPI_Comm_free(&self->messages);
}

/* Every rank of the communicator does the same here, its p2p open. */
static void enter(struct tollbar_joined* self, const char* name, const char* plan, const struct tollbar_first* first) {
    progress_of_mpi = self->p2p.progress;
    self->p2p.progress = progress;
    const struct tollbar_mpi_options options = {.plan = plan,
                                                .name = name,
                                                .mpi = tollbar_mpi_key(),
                                                .budget_ms = -1,
                                                .timeout_s = -1,
                                                .barriers_before = first != NULL,
                                                .call_site = first != NULL ? first->call_site : NULL};
    const int failed = tollbar_mpi_join(&self->p2p, &options, &self->row.participant);
    if (failed == 0) {
        const int needs_no_calls = tollbar_mpi_needs_no_calls(self->row.participant);
        self->splits_phases = needs_no_calls && tollbar_requests_can_be_had();
        self->persists = needs_no_calls && (tollbar_hooks_suffice || tollbar_requests_can_be_had());
        return;
    }
    if (self->p2p.rank == 0 && tollbar_verbosity() >= 1)
        tollbar_say("%s: %s; the MPI's own barrier is used", name[0] == '\0' ? "a communicator" : name,
                    strerror(failed));
    self->row.participant = NULL;
    close_p2p(self);
}

void tollbar_join(MPI_Comm comm, struct tollbar_joined* self, const struct tollbar_first* first) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int between_groups = 0, ranks = 0, length = 0;
    PMPI_Comm_test_inter(comm, &between_groups);
    PMPI_Comm_size(comm, &ranks);
    if (between_groups || ranks < 2 || !open_p2p(comm, self)) return;
    PMPI_Comm_get_name(comm, name, &length);
    enter(self, name, NULL, first);
}

void tollbar_join_again(MPI_Comm comm, const struct tollbar_joined* joined, struct tollbar_joined* self) {
    char name[MPI_MAX_OBJECT_NAME] = "", called[MPI_MAX_OBJECT_NAME + 16];
    int length = 0;
    const int refused = joined->messages == MPI_COMM_NULL
                            ? tollbar_pmpi_p2p_open_through(comm, private_comm, &self->p2p)
                            : tollbar_pmpi_p2p_open(joined->messages, &self->p2p);
    self->messages = MPI_COMM_NULL;
    if (refused != MPI_SUCCESS) return;
    PMPI_Comm_get_name(comm, name, &length);
    snprintf(called, sizeof called, "%s, persistent", name[0] == '\0' ? "a communicator" : name);
    enter(self, called, tollbar_mpi_plan(joined->row.participant), NULL);
}

void tollbar_leave(struct tollbar_joined* self) {
    if (self->row.participant == NULL) return;
    tollbar_mpi_leave(self->row.participant);
    self->row.participant = NULL;
    close_p2p(self);
}
