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
    struct pmpi_state real; /* comes first: the real functions take this state for theirs */
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

static void idle_call(void* context, const unsigned char* heard) {
    const struct tollbar_idle* idle = context;
    sg_actor_sleep_for(poll_s);
    idle->call(idle->context, heard);
}

static int simulated_gather(void* state, const void* mine, void* all, uint32_t bytes, const struct tollbar_idle* idle) {
    const struct tollbar_idle passing = {idle_call, (void*)idle};
    return real.gather(state, mine, all, bytes, &passing);
}

static int simulated_broadcast(void* state, void* data, uint32_t bytes, const struct tollbar_idle* idle) {
    const struct tollbar_idle passing = {idle_call, (void*)idle};
    return real.broadcast(state, data, bytes, &passing);
}

static int simulated_start(void* state, tollbar_channel* channel) {
    struct simulated_state* self = state;
    if (channel->receives) return real.start(state, channel);
    sleep_until(self->send_port_s);
    const int refused = real.start(state, channel); /* takes the overhead */
    self->send_port_s = simgrid_get_clock() + self->gap_s;
    return refused;
}

static int simulated_done(void* state, tollbar_channel* channel) {
    struct simulated_state* self = state;
    const int takes = channel->receives && channel->under_way;
    if (takes) sleep_until(self->receive_port_s);
    const int over = real.done(state, channel);
    if (takes && over) self->receive_port_s = simgrid_get_clock() + self->gap_s;
    self->asked = over ? NULL : channel;
    return over;
}

/* A message that was waited for is no longer under way, which the next done() finds. */
static void simulated_progress(void* state) {
    struct simulated_state* self = state;
    real.progress(state);
    if (self->asked == NULL) return;
    if (self->waiting == TOLLBAR_SIMULATED_EXACT)
        PMPI_Wait(&self->asked->request, MPI_STATUS_IGNORE);
    else
        sg_actor_sleep_for(poll_s);
}

int tollbar_simulated_p2p_open(MPI_Comm comm, enum tollbar_simulated_waiting waiting, double gap_s,
                               struct tollbar_p2p* p2p) {
    const int refused = tollbar_pmpi_p2p_open(comm, p2p);
    if (refused != MPI_SUCCESS) return refused;
    struct simulated_state* self = malloc(sizeof *self);
    if (self == NULL) return MPI_ERR_OTHER;
    real = *p2p;
    *self = (struct simulated_state){.real = *(struct pmpi_state*)p2p->state, .waiting = waiting, .gap_s = gap_s};
    free(p2p->state);
    p2p->state = self;
    p2p->gather = simulated_gather;
    p2p->broadcast = simulated_broadcast;
    p2p->start = simulated_start;
    p2p->done = simulated_done;
    p2p->progress = simulated_progress;
    return MPI_SUCCESS;
}

void tollbar_simulated_p2p_close(struct tollbar_p2p* p2p) { tollbar_pmpi_p2p_close(p2p); }
