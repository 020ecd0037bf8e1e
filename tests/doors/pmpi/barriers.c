/* SPDX-License-Identifier: Apache-2.0
 * An MPI program that knows nothing of tollbar and leaves no early exit unseen. It is run with a preload on any number
 * of ranks, and prints how many barriers each rank made; its MPI_Ibarriers are the MPI's. With a second argument it
 * makes a wrong barrier. */
#include "completing.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;
static long barriers;
static int* episode_of; /* of each rank, in memory all of them see */

static void check(int truth, const char* what) {
    if (truth) return;
    fprintf(stderr, "rank %d: not so: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void barrier(MPI_Comm comm) {
    MPI_Barrier(comm);
    ++barriers;
}

static MPI_Request ibarrier(MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    return request;
}

/* Each rank says that it came, and finds afterwards that everybody did; each in turn comes late. */
static void nobody_leaves_a_barrier_early(MPI_Comm comm) {
    for (int episode = 1; episode <= 3 * ranks; ++episode) {
        volatile int idle = 0;
        if (episode % ranks == rank)
            while (idle < 100000) ++idle;
        __atomic_store_n(&episode_of[rank], episode, __ATOMIC_RELAXED);
        barrier(comm);
        for (int other = 0; other < ranks; ++other)
            check(__atomic_load_n(&episode_of[other], __ATOMIC_RELAXED) >= episode, "everybody had come");
        barrier(comm);
    }
    __atomic_store_n(&episode_of[rank], 0, __ATOMIC_RELAXED);
    barrier(comm);
}

/* The late rank comes when all others have seen that it is missing. */
static void nobody_finds_an_ibarrier_over_early(MPI_Comm comm) {
    for (int late = 0; late < ranks; ++late) {
        MPI_Request request = MPI_REQUEST_NULL;
        int over = 0, word = late;
        if (rank != late) {
            request = ibarrier(comm);
            for (int i = 0; i < 5; ++i) {
                MPI_Request_get_status(request, &over, MPI_STATUS_IGNORE);
                check(!over, "an ibarrier waits for the late rank");
                MPI_Test(&request, &over, MPI_STATUS_IGNORE);
                check(!over, "an ibarrier waits for the late rank");
            }
            MPI_Send(&word, 1, MPI_INT, late, 1, MPI_COMM_WORLD);
        } else {
            for (int i = 1; i < ranks; ++i)
                MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            request = ibarrier(comm);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(request == MPI_REQUEST_NULL, "a request that was waited for is null");
    }
}

static void start_many(MPI_Comm one, MPI_Comm other, MPI_Request* requests) {
    for (int i = 0; i < in_flight; ++i) requests[i] = ibarrier(i % 2 ? one : other);
}

/* Each function of the MPI that completes requests takes these, on each rank another one. */
static void requests_are_completed_by_every_function(MPI_Comm one, MPI_Comm other) {
    for (int round = 0; round < ways_to_complete; ++round) {
        MPI_Request requests[in_flight];
        start_many(one, other, requests);
        complete((round + rank) % ways_to_complete, requests);
        for (int i = 0; i < in_flight; ++i) check(requests[i] == MPI_REQUEST_NULL, "everything was completed");
    }
}

static void barriers_pass_pending_ibarriers(MPI_Comm comm) {
    MPI_Request first = ibarrier(comm);
    barrier(comm);
    MPI_Request second = ibarrier(comm);
    barrier(MPI_COMM_WORLD);
    barrier(comm);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
}

/* Every receive and probe of the user's finds the user's messages only. */
static void users_messages_are_left_alone(MPI_Comm comm) {
    int word = -1, flag = 1, from = (rank + ranks - 1) % ranks;
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    for (int i = 0; i < 20; ++i) {
        barrier(comm);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
        check(!flag, "a probe finds nothing");
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        check(!flag, "a receive of anything gets nothing");
    }
    barrier(comm);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 7, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(word == from, "the user's message came");
}

static int copies;

static int count_copy(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* copied) {
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    ++copies;
    *copied = 0;
    return MPI_SUCCESS;
}

static void users_attributes_are_not_copied(void) {
    int key;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    barrier(comm);
    check(copies == 0, "a barrier copies no attributes");
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static void communicators_come_and_go(void) {
    for (int i = 0; i < 50; ++i) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        barrier(comm);
        if (i % 2) request = ibarrier(comm);
        if (i % 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    }
}

/* Barriers that tollbar leaves to the MPI; they are not counted. */
static void the_mpi_does_the_others(void) {
    MPI_Comm half, between;
    MPI_Barrier(MPI_COMM_SELF);
    if (ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &between);
        MPI_Barrier(between);
        MPI_Barrier(between);
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
}

/* A barrier on no communicator gives an error code, or ends the program, as the MPI likes. */
static void say_what_no_communicator_gives(void) {
    int class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* since MPI 4 this one counts */
    MPI_Error_class(MPI_Barrier(MPI_COMM_NULL), &class);
    printf("rank %d: %s\n", rank, class == MPI_ERR_COMM ? "MPI_ERR_COMM" : "another class");
}

int main(int argc, char** argv) {
    MPI_Comm other, backwards, node;
    MPI_Win window;
    MPI_Aint size;
    int unit;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 2) {
        say_what_no_communicator_gives();
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof(int) * ranks : 0, sizeof(int), MPI_INFO_NULL, node,
                            &episode_of, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &episode_of);
    episode_of[rank] = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);

    barrier(MPI_COMM_WORLD);
    barrier(other);
    barrier(backwards);
    nobody_leaves_a_barrier_early(MPI_COMM_WORLD);
    nobody_leaves_a_barrier_early(backwards);
    nobody_finds_an_ibarrier_over_early(MPI_COMM_WORLD);
    nobody_finds_an_ibarrier_over_early(other);
    requests_are_completed_by_every_function(MPI_COMM_WORLD, backwards);
    barriers_pass_pending_ibarriers(other);
    users_messages_are_left_alone(MPI_COMM_WORLD);
    users_attributes_are_not_copied();
    communicators_come_and_go();
    the_mpi_does_the_others();

    MPI_Comm_free(&other);
    MPI_Comm_free(&backwards);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    printf("rank %d made %ld barriers\n", rank, barriers);
    MPI_Finalize();
    return 0;
}
