/* SPDX-License-Identifier: Apache-2.0
 * The point-to-point calls of every MPI, as they are, and the one thing a simulation needs beside them: time passes
 * only while a rank sleeps or waits, so whoever polls in vain has to do one of them. */
#include "simulated_p2p.h"

#include "transports/mpi/pmpi_p2p.c"

#include <simgrid/actor.h>
#include <simgrid/engine.h>

static const double poll_s = 1e-3;

static struct tollbar_p2p real; /* its functions; the same for every rank */

struct simulated_state {
    void* real;
    tollbar_channel* asked; /* in vain, the last time */
    enum tollbar_simulated_waiting waiting;
    double gap_s;
    double send_port_s; /* when it is free again */
    double receive_port_s;
};

static void sleep_until(double moment_s) {
    const double left_s = moment_s - simgrid_get_clock();
    if (left_s > 0) sg_actor_sleep_for(left_s);
}

static tollbar_channel* simulated_open(void* state, uint32_t peer, enum tollbar_way way, void* data, uint32_t bytes) {
    return real.open(((struct simulated_state*)state)->real, peer, way, data, bytes);
}

static int simulated_start(void* state, tollbar_channel* channel) {
    struct simulated_state* self = state;
    if (channel->receives) return real.start(self->real, channel);
    sleep_until(self->send_port_s);
    const int refused = real.start(self->real, channel); /* takes the overhead */
    self->send_port_s = simgrid_get_clock() + self->gap_s;
    return refused;
}

static int simulated_done(void* state, tollbar_channel* channel) {
    struct simulated_state* self = state;
    const int takes = channel->receives && channel->under_way;
    if (takes) sleep_until(self->receive_port_s);
    const int over = real.done(self->real, channel);
    if (takes && over > 0) self->receive_port_s = simgrid_get_clock() + self->gap_s;
    self->asked = over != 0 ? NULL : channel;
    return over;
}

static int simulated_close(void* state, tollbar_channel* channel) {
    return real.close(((struct simulated_state*)state)->real, channel);
}

static int simulated_error(void* state) { return real.error(((struct simulated_state*)state)->real); }

/* A message that was waited for is no longer under way, which the next done() finds. */
static void simulated_progress(void* state) {
    struct simulated_state* self = state;
    real.progress(self->real);
    if (self->asked == NULL) return;
    if (self->waiting == TOLLBAR_SIMULATED_EXACT)
        PMPI_Wait(&self->asked->request, MPI_STATUS_IGNORE);
    else
        sg_actor_sleep_for(poll_s);
}

int tollbar_simulated_p2p_open(MPI_Comm comm, enum tollbar_simulated_waiting waiting, double gap_s,
                               struct tollbar_p2p* p2p) {
    const int refused = tollbar_pmpi_p2p_open(comm, &real);
    if (refused != MPI_SUCCESS) return refused;
    struct simulated_state* self = malloc(sizeof *self);
    if (self == NULL) return MPI_ERR_OTHER;
    *self = (struct simulated_state){.real = real.state, .waiting = waiting, .gap_s = gap_s};
    *p2p = (struct tollbar_p2p){
        .state = self,
        .rank = real.rank,
        .ranks = real.ranks,
        .open = simulated_open,
        .start = simulated_start,
        .done = simulated_done,
        .close = simulated_close,
        .error = simulated_error,
        .progress = simulated_progress,
    };
    return MPI_SUCCESS;
}

void tollbar_simulated_p2p_close(struct tollbar_p2p* p2p) {
    struct simulated_state* self = p2p->state;
    struct tollbar_p2p inner = {.state = self->real};
    tollbar_pmpi_p2p_close(&inner);
    free(self);
}
