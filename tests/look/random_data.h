/* SPDX-License-Identifier: Apache-2.0
 * The data that ranks of random_program.c send, and have to receive. */
#ifndef TOLLBAR_TESTS_LOOK_RANDOM_DATA_H
#define TOLLBAR_TESTS_LOOK_RANDOM_DATA_H

#include <mpi.h>
#include <stdio.h>

enum { most_ranks = 8 };

/* clang-format off */
enum kind {
    barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, scan, exscan, reduce_scatter_block,
    allgatherv, alltoallv, neighbor_allgather
};
/* clang-format on */
/* A request, and its purpose. */
struct pending {
    MPI_Request request;
    unsigned *from, *to;
    enum { nothing, meeting, sending, receiving, making } what;
    enum kind kind;
    int comm, count, root, salt, rank, ranks, is_persistent;
};

static unsigned element(int salt, int rank, int i) { return (unsigned)(salt * 1000003 + rank * 4099 + i); }

static unsigned sum(int salt, int ranks, int i) {
    unsigned all = 0;
    for (int rank = 0; rank < ranks; ++rank) all += element(salt, rank, i);
    return all;
}

static void expect(const struct pending* one, int i, unsigned value) {
    if (one->to[i] == value) return;
    fprintf(stderr, "wrong data: rank %d, kind %d, salt %d: [%d] is %u, not %u\n", one->rank, one->kind, one->salt, i,
            one->to[i], value);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void expect_meeting(const struct pending* one) {
    const int rank = one->rank, ranks = one->ranks, count = one->count, salt = one->salt;
    for (int i = 0; i < count; ++i) {
        if (one->kind == bcast) expect(one, i, element(salt, one->root, i));
        if (one->kind == allreduce || (one->kind == reduce && rank == one->root)) expect(one, i, sum(salt, ranks, i));
        if (one->kind == scatter) expect(one, i, element(salt, one->root, rank * count + i));
        if (one->kind == scan) expect(one, i, sum(salt, rank + 1, i));
        if (one->kind == exscan && rank > 0) expect(one, i, sum(salt, rank, i));
        if (one->kind == reduce_scatter_block) expect(one, i, sum(salt, ranks, rank * count + i));
        for (int other = 0; other < ranks; ++other) {
            const int at = other * count + i;
            const int gathers = one->kind == allgather || one->kind == allgatherv;
            if (gathers || (one->kind == gather && rank == one->root)) expect(one, at, element(salt, other, i));
            if (one->kind == alltoall || one->kind == alltoallv)
                expect(one, at, element(salt, other, rank * count + i));
        }
        if (one->kind == neighbor_allgather) {
            expect(one, i, element(salt, (rank + ranks - 1) % ranks, i));
            expect(one, count + i, element(salt, (rank + 1) % ranks, i));
        }
    }
}

#endif
