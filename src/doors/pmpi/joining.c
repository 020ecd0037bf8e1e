/* SPDX-License-Identifier: Apache-2.0
 * Opens what carries the messages of a communicator, and has its ranks join. */
#include "joining.h"

#include "everybody.h"
#include "failures.h"
#include "family.h"
#include "host_mpi.h"
#include "next.h"
#include "runtime/environment.h"
#include "runtime/say.h"
#include "transports/mpi/pmpi_p2p.h"

#include <errno.h>
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
    enum { nobodys_tag = 32749 }; /* of another MPI_Comm_create_group that a thread may be in */
    self->messages = MPI_COMM_NULL;
    if (private_comm_is_open) return tollbar_pmpi_p2p_open_through(comm, private_comm, &self->p2p);
    MPI_Group group;
    int refused = PMPI_Comm_group(comm, &group);
    if (refused != MPI_SUCCESS) return refused;
    refused = tollbar_mpi_makes_one_at_a_time && tollbar_failures() == NULL
                  ? PMPI_Comm_create_group(comm, group, nobodys_tag, &self->messages)
                  : PMPI_Comm_create(comm, group, &self->messages);
    PMPI_Group_free(&group);
    if (refused != MPI_SUCCESS) return refused;
    refused = tollbar_pmpi_p2p_open(self->messages, &self->p2p);
    if (refused != MPI_SUCCESS) PMPI_Comm_free(&self->messages);
    return refused;
}

/* Ranks may come here at different times, where some have handles left when the communicator is freed. MPI_Comm_free is
 * collective in name; MPI-4.0, 7.4.3 anticipates that it is local, and in every MPI that is served here it waits for
 * nobody (tests/faults/freed_apart.c). */
static void close_p2p(struct tollbar_joined* self) {
    tollbar_pmpi_p2p_close(&self->p2p);
    if (self->messages != MPI_COMM_NULL) PMPI_Comm_free(&self->messages);
}

/* Another rank of the node may have seen it a moment earlier. */
int tollbar_code_of(const struct tollbar_joined* self, int failed) {
    enum { most_looks = 250 };
    int64_t since_ns = 0;
    if (failed == 0) return MPI_SUCCESS;
    for (int looks = tollbar_failures() != NULL && failed == EIO ? most_looks : 1; looks > 0; --looks) {
        const int code = self->p2p.error(self->p2p.state);
        if (code != MPI_SUCCESS) return code;
        if (looks == 1) break;
        self->p2p.progress(self->p2p.state);
        tollbar_mpi_pass_time(&since_ns);
    }
    return MPI_ERR_OTHER;
}

/* Every rank of the communicator does the same here, its p2p open. Returns as tollbar_join(). */
static int enter(struct tollbar_joined* self, const char* name, const char* plan, const struct tollbar_first* first) {
    progress_of_mpi = self->p2p.progress;
    self->p2p.progress = progress;
    const struct tollbar_mpi_options options = {.plan = plan,
                                                .name = name,
                                                .mpi = tollbar_mpi_key(),
                                                .budget_ms = -1,
                                                .timeout_s = -1,
                                                .barriers_before = first->call_site != NULL,
                                                .call_site = first->call_site};
    const int failed = tollbar_mpi_join(&self->p2p, &options, &self->row.participant);
    if (failed == 0) {
        /* What ends by itself cannot end with an error of the communicator's. */
        const int needs_no_calls = tollbar_mpi_needs_no_calls(self->row.participant) && tollbar_failures() == NULL;
        self->splits_phases = needs_no_calls && tollbar_requests_can_be_had();
        self->persists = needs_no_calls && tollbar_persistent_calls_come_here() &&
                         (tollbar_hooks_suffice || tollbar_requests_can_be_had());
        return MPI_SUCCESS;
    }
    const int code = failed == EIO ? tollbar_code_of(self, failed) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && self->p2p.rank == 0 && tollbar_verbosity() >= 1)
        tollbar_say("%s: %s; the MPI's own barrier is used", name[0] == '\0' ? "a communicator" : name,
                    strerror(failed));
    self->row.participant = NULL;
    close_p2p(self);
    return code;
}

int tollbar_join(MPI_Comm comm, struct tollbar_joined* self, const struct tollbar_first* first) {
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
    return enter(self, name, NULL, first);
}

int tollbar_join_again(MPI_Comm comm, const struct tollbar_joined* joined, struct tollbar_joined* self) {
    char name[MPI_MAX_OBJECT_NAME] = "", called[MPI_MAX_OBJECT_NAME + 16];
    int length = 0;
    const int refused = joined->messages == MPI_COMM_NULL
                            ? tollbar_pmpi_p2p_open_through(comm, private_comm, &self->p2p)
                            : tollbar_pmpi_p2p_open(joined->messages, &self->p2p);
    self->messages = MPI_COMM_NULL;
    if (refused != MPI_SUCCESS) return refused;
    PMPI_Comm_get_name(comm, name, &length);
    snprintf(called, sizeof called, "%s, persistent", name[0] == '\0' ? "a communicator" : name);
    return enter(self, called, tollbar_mpi_plan(joined->row.participant), &(struct tollbar_first){0});
}

void tollbar_watch_no_more(struct tollbar_joined* self) {
    if (self->row.participant != NULL) tollbar_pmpi_p2p_watch(&self->p2p, MPI_COMM_NULL, NULL);
}

void tollbar_leave(struct tollbar_joined* self) {
    if (self->row.participant == NULL) return;
    tollbar_mpi_leave(self->row.participant);
    self->row.participant = NULL;
    close_p2p(self);
}
