/* SPDX-License-Identifier: Apache-2.0
 * Dissemination, one peer a round (Hensgen, Finkel, Manber 1988). */
#include "early.h"

#include "pml_carrier.h"

#include <ompi/mca/coll/base/coll_tags.h>

#include <stdio.h>

/* A tag of the row that all nonblocking collectives of a communicator share, so that no two under way have the same.
 * Every rank draws the same one, because every rank starts them in the same order. */
static int draw_tag(struct ompi_communicator_t* comm) {
    int32_t* row = (int32_t*)&comm->c_nbc_tag;
    int32_t seen = __atomic_load_n(row, __ATOMIC_RELAXED);
    int32_t tag;
    do {
        tag = seen - 1 < MCA_COLL_BASE_TAG_NONBLOCKING_END ? MCA_COLL_BASE_TAG_NONBLOCKING_BASE : seen;
    } while (!__atomic_compare_exchange_n(row, &seen, tag - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return tag;
}

static int awaited(const struct tollbar_early* early, struct ompi_communicator_t* comm) {
    const int ranks = ompi_comm_size(comm);
    return (ompi_comm_rank(comm) - early->stride + ranks) % ranks;
}

static void start_round(struct tollbar_early* early, struct ompi_communicator_t* comm) {
    const int rank = ompi_comm_rank(comm);
    const int ranks = ompi_comm_size(comm);
    if (early->stride >= ranks || early->error) return;
    early->error = tollbar_pml_receive(comm, awaited(early, comm), early->tag, &early->from);
    if (early->error) return;
    early->error = tollbar_pml_send(comm, (rank + early->stride) % ranks, early->tag, &early->to);
}

void tollbar_early_start(struct tollbar_early* early, struct ompi_communicator_t* comm) {
    *early = (struct tollbar_early){.from = NULL, .to = NULL, .tag = draw_tag(comm), .stride = 1, .error = 0};
    start_round(early, comm);
}

int tollbar_early_over(struct tollbar_early* early, struct ompi_communicator_t* comm) {
    while (!early->error && early->stride < ompi_comm_size(comm)) {
        if (!tollbar_pml_over(&early->from) || !tollbar_pml_over(&early->to)) return 0;
        early->stride *= 2;
        start_round(early, comm);
    }
    return 1;
}

void tollbar_early_report(const struct tollbar_early* early, struct ompi_communicator_t* comm, double waited_s) {
    fprintf(stderr,
            "tollbar: %s (%d ranks), MPI_Ibarrier before the first MPI_Barrier: rank %d has waited %.1f s: nothing "
            "heard from rank %d\n",
            comm->c_name, ompi_comm_size(comm), ompi_comm_rank(comm), waited_s, awaited(early, comm));
}
