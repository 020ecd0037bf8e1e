/* SPDX-License-Identifier: Apache-2.0
 * An MPI program with persistent barriers that knows nothing of tollbar. Compiled with BARRIER_INIT for the name that
 * its MPI has for MPI_Barrier_init. It prints how many barriers of each kind each rank made. With an argument it makes
 * only such as any MPI does by itself: Open MPI 4 crashes in some of the others, and MPICH 4 refuses some. */
#include "completing.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int BARRIER_INIT(MPI_Comm comm, MPI_Info info, MPI_Request* request);
#pragma weak MPI_Barrier_init /* programs for Open MPI 5 are linked with Open MPI 4, which lacks it */

static int rank, ranks;
static long barriers, ibarriers, starts;

static void check(int truth, const char* what) {
    if (truth) return;
    fprintf(stderr, "rank %d: not so: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Request make(MPI_Comm comm) {
    MPI_Request handle = MPI_REQUEST_NULL;
    check(BARRIER_INIT(comm, MPI_INFO_NULL, &handle) == MPI_SUCCESS, "a handle can be had");
    return handle;
}

static void start(MPI_Request* handle) {
    MPI_Start(handle);
    ++starts;
}

static void wait_for(MPI_Request* handle) {
    MPI_Wait(handle, MPI_STATUS_IGNORE);
    check(*handle != MPI_REQUEST_NULL, "a persistent handle stays");
}

static int is_over(MPI_Request* handle) {
    int over = 0;
    MPI_Test(handle, &over, MPI_STATUS_IGNORE);
    return over;
}

/* What all others have done before is before what this rank does afterwards. */
static void others_tell(int one) {
    int word = 0;
    if (rank != one) MPI_Send(&word, 1, MPI_INT, one, 1, MPI_COMM_WORLD);
    for (int i = 1; rank == one && i < ranks; ++i)
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void a_started_one_waits_for_the_late_rank(MPI_Comm comm) {
    MPI_Request handle = make(comm);
    wait_for(&handle); /* inactive: over at once */
    for (int late = 0; late < ranks; ++late) {
        int over = 0;
        if (rank != late) start(&handle);
        for (int i = 0; i < 5 && rank != late; ++i) {
            MPI_Request_get_status(handle, &over, MPI_STATUS_IGNORE);
            check(!over && !is_over(&handle), "a started barrier waits for the late rank");
        }
        others_tell(late);
        if (rank == late) start(&handle);
        wait_for(&handle);
    }
    MPI_Request_free(&handle);
    check(handle == MPI_REQUEST_NULL, "a freed handle is null");
}

enum { handles_of = 4 };

/* Four handles and two ibarriers; each function of the MPI completes them, on each rank another one. */
static void requests_are_completed_by_every_function(MPI_Comm one, MPI_Comm other) {
    MPI_Request requests[in_flight];
    for (int i = 0; i < handles_of; ++i) requests[i] = make(i % 2 ? one : other);
    for (int round = 0; round < 2 * ways_to_complete; ++round) {
        MPI_Startall(handles_of, requests);
        starts += handles_of;
        for (int i = handles_of; i < in_flight; ++i) MPI_Ibarrier(other, &requests[i]);
        ibarriers += in_flight - handles_of;
        complete((round + rank) % ways_to_complete, requests);
    }
    for (int i = 0; i < handles_of; ++i) MPI_Request_free(&requests[i]);
}

/* Which barriers belong together was said when the handles were made. */
static void handles_are_started_in_any_order(MPI_Comm comm) {
    MPI_Request first = make(comm), second = make(comm);
    for (int odd = 0; odd < ranks; ++odd) {
        start(rank == odd ? &first : &second);
        for (int i = 0; i < 5; ++i)
            check(!is_over(rank == odd ? &first : &second), "the others have started the other one");
        others_tell(odd);
        others_tell((odd + 1) % ranks);
        start(rank == odd ? &second : &first);
        wait_for(&first);
        wait_for(&second);
    }
    MPI_Request_free(&second);
    MPI_Request_free(&first);
}

/* Some start before a barrier what others start after it. */
static void barriers_pass_started_handles(MPI_Comm comm) {
    MPI_Request handle = make(comm), request;
    for (int round = 0; round < 6; ++round) {
        const int early = (rank + round) % 2;
        if (early) start(&handle);
        MPI_Barrier(comm);
        MPI_Ibarrier(comm, &request);
        MPI_Barrier(comm);
        barriers += 2, ++ibarriers;
        if (!early) start(&handle);
        if (early) MPI_Wait(&request, MPI_STATUS_IGNORE);
        wait_for(&handle);
        if (!early) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&handle);
}

static void a_handle_outlives_its_communicator(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request handle = make(comm), another = make(comm);
    start(&another);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 5; ++i) {
        start(&handle);
        wait_for(&handle);
    }
    wait_for(&another);
    MPI_Request_free(&handle);
    MPI_Request_free(&another);
}

static void handles_come_and_go(MPI_Comm comm) {
    for (int i = 0; i < 100; ++i) {
        MPI_Request handle = make(comm);
        for (int j = 0; j < i % 3; ++j) {
            start(&handle);
            wait_for(&handle);
        }
        MPI_Request_free(&handle);
    }
}

/* Handles of other kinds among ours are the MPI's. */
static void the_mpi_has_its_own_handles(MPI_Comm comm) {
    int got = -1, from = (rank + ranks - 1) % ranks;
    MPI_Request handles[3] = {make(comm)};
    MPI_Recv_init(&got, 1, MPI_INT, from, 3, comm, &handles[1]);
    MPI_Send_init(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, comm, &handles[2]);
    for (int i = 0; i < 5; ++i, got = -1) {
        MPI_Startall(3, handles);
        ++starts;
        MPI_Waitall(3, handles, MPI_STATUSES_IGNORE);
        check(got == from, "the user's message came");
    }
    for (int i = 0; i < 3; ++i) MPI_Request_free(&handles[i]);
    /* The counts leave this one out: tollbar has no barrier for it. */
    handles[0] = make(MPI_COMM_SELF);
    MPI_Start(&handles[0]);
    wait_for(&handles[0]);
    MPI_Request_free(&handles[0]);
}

int main(int argc, char** argv) {
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) {
        handles_come_and_go(MPI_COMM_WORLD);
        printf("rank %d made %ld barriers, %ld ibarriers, %ld persistent\n", rank, barriers, ibarriers, starts);
        return MPI_Finalize();
    }
    a_started_one_waits_for_the_late_rank(MPI_COMM_WORLD); /* before any barrier */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    requests_are_completed_by_every_function(MPI_COMM_WORLD, other);
    handles_are_started_in_any_order(other);
    barriers_pass_started_handles(MPI_COMM_WORLD);
    a_handle_outlives_its_communicator();
    handles_come_and_go(other);
    the_mpi_has_its_own_handles(MPI_COMM_WORLD);
    MPI_Request left = make(other); /* and never freed */
    start(&left);
    wait_for(&left);
    MPI_Comm_free(&other);
    printf("rank %d made %ld barriers, %ld ibarriers, %ld persistent\n", rank, barriers, ibarriers, starts);
    MPI_Finalize();
    return 0;
}
