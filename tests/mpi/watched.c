/* SPDX-License-Identifier: Apache-2.0
 * Rank 2 does something else than the others, until the test's script tells it to go on; where that is wrong in itself,
 * for ever.
 *
 * usage: watched PAGE HOW */
#include "toll.h"

#include <pthread.h>
#include <signal.h>

enum { odd = 2, many = 1 << 17 };

static const char* how;
static int is_odd, neighbour;
static double in[many], out[many];

static int is(const char* word) { return strcmp(how, word) == 0; }

static void* computes(void* unused) {
    while (atomic_load(&toll_page->told) == 0) continue;
    return unused;
}

/* The others are, or will be, in the call that the odd rank does not make. */
static void stay_away(void) {
    if (!is_odd) return;
    atomic_store(&toll_page->tell, 1);
    if (is("stopped")) raise(SIGSTOP);
    if (is("gone")) raise(SIGKILL);
    if (is("asleep")) sleep(1000);
    if (is("recv")) MPI_Recv(in, 1, MPI_DOUBLE, neighbour, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("computes")) computes(NULL);
    if (is("has it computed")) pthread_create(&(pthread_t){0}, NULL, computes, NULL);
    toll_await(&toll_page->told, 1);
}

static void wait_by(int testing, MPI_Request* request) {
    int over = 0;
    while (testing && !over) MPI_Test(request, &over, MPI_STATUS_IGNORE);
    if (!testing) MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void collective(const char* name, MPI_Comm comm) {
    MPI_Request request;
    if (strcmp(name, "barrier") == 0) MPI_Barrier(comm);
    if (strcmp(name, "allreduce") == 0) MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (strcmp(name, "bcast") == 0) MPI_Bcast(in, 1, MPI_DOUBLE, odd, comm);
    /* The root's own part is in place, and no type is given that does not count. */
    const int root = toll_rank == 0, is_unlike = is("unlike") && toll_rank == 3;
    const MPI_Datatype type = is_unlike ? MPI_FLOAT : MPI_DOUBLE, own = root ? MPI_DATATYPE_NULL : type;
    const MPI_Datatype roots = root ? MPI_DOUBLE : MPI_DATATYPE_NULL;
    if (strcmp(name, "gather") == 0) MPI_Gather(root ? MPI_IN_PLACE : in, 1, own, out, 1, roots, 0, comm);
    if (strcmp(name, "scatter") == 0) MPI_Scatter(out, 1, roots, root ? MPI_IN_PLACE : in, 1, own, 0, comm);
    if (strcmp(name, "allgather") == 0) {
        if (is_unlike)
            MPI_Allgather(in, 0, type, out, 1, MPI_DOUBLE, comm);
        else
            MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_DOUBLE, comm);
    }
    if (strcmp(name, "alltoall") == 0) MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
    if (strcmp(name, "alltoallv") == 0) {
        const int counts[] = {1, 1, 1, 1}, at[] = {0, 1, 2, 3};
        MPI_Alltoallv(in, counts, at, MPI_DOUBLE, out, counts, at, MPI_DOUBLE, comm);
    }
    if (strcmp(name, "iallreduce") == 0 || strcmp(name, "tested") == 0) {
        MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
        wait_by(strcmp(name, "tested") == 0, &request);
    }
    if (strcmp(name, "split") == 0) {
        MPI_Comm half;
        MPI_Comm_split(comm, toll_rank % 2, 0, &half);
        MPI_Comm_free(&half);
    }
}

/* Each other rank waits by a request for a message of the odd one. */
static void message_later(const char* by) {
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    stay_away();
    for (int rank = 0; is_odd && rank < toll_world; ++rank)
        if (rank != odd) MPI_Send(in, 1, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD);
    if (is_odd) return;
    if (strcmp(by, "start") == 0) {
        MPI_Recv_init(in, 1, MPI_DOUBLE, odd, 9, MPI_COMM_WORLD, &requests[1]);
        MPI_Start(&requests[1]);
    } else {
        MPI_Irecv(in, 1, MPI_DOUBLE, odd, 9, MPI_COMM_WORLD, &requests[1]);
    }
    if (strcmp(by, "waitall") == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else
        wait_by(strcmp(by, "test") == 0, &requests[1]);
}

/* Another communicator's call is begun before the one that is waited for, and others after it. */
static void begun_before(void) {
    MPI_Request request, others[4];
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_name(other, "the other");
    stay_away();
    MPI_Ibcast(in, 1, MPI_DOUBLE, odd, other, &request);
    for (int i = 0; i < 4; ++i) MPI_Ibarrier(MPI_COMM_WORLD, &others[i]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Waitall(4, others, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&other);
}

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#    define MPI_Barrier_init MPIX_Barrier_init
#    define MPI_Allreduce_init MPIX_Allreduce_init
#endif

#if MPI_VERSION >= 4 || defined(OPEN_MPI)
/* The odd rank does not start it for the third time; both have been started in either order. */
static void persistent(void) {
    MPI_Request request, other;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &other);
    MPI_Allreduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        if (i == 2) stay_away();
        if (toll_rank == 0) MPI_Start(&other);
        MPI_Startall(1, &request);
        if (toll_rank != 0) MPI_Start(&other);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Request_free(&other);
}
#else
static void persistent(void) {}
#endif

/* From MPI_COMM_WORLD, by that call. */
static MPI_Comm made_by(const char* call) {
    MPI_Comm made = MPI_COMM_NULL, half;
    MPI_Group all;
    MPI_Request request;
    if (strcmp(call, "cart_create") == 0) MPI_Cart_create(MPI_COMM_WORLD, 1, &toll_world, &(int){1}, 0, &made);
    if (strcmp(call, "idup") == 0) {
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(call, "create_group") == 0) {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, &made);
        MPI_Group_free(&all);
    }
    if (strcmp(call, "intercomm_create") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, toll_rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - toll_rank % 2, 0, &made);
        MPI_Comm_free(&half);
    }
    return made;
}

/* The odd rank has made a communicator with the others, and stays away from their first call there. */
static void on_a_new_one(const char* call) {
    MPI_Comm made = made_by(call);
    if (!is_odd) MPI_Comm_set_name(made, "the new one"); /* which is a use of it */
    stay_away();
    if (strcmp(call, "cart_create") == 0)
        MPI_Neighbor_allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, made);
    else
        MPI_Barrier(made);
    MPI_Comm_free(&made);
}

static void* second_thread(void* comm) {
    stay_away();
    MPI_Allreduce(in + 1, out + 1, 1, MPI_DOUBLE, MPI_SUM, *(MPI_Comm*)comm);
    return NULL;
}

static void two_threads(void) {
    MPI_Comm comms[2];
    pthread_t second;
    for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm_set_name(comms[1], "the second's");
    pthread_create(&second, NULL, second_thread, &comms[1]);
    for (int i = 0; i < 100; ++i) MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comms[0]);
    pthread_join(second, NULL);
    for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
}

/* Two communicators, whose calls the odd rank makes in the other order. */
static void other_order(void) {
    MPI_Comm comms[2];
    for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm_set_name(comms[0], "the first");
    MPI_Comm_set_name(comms[1], "the other");
    for (int i = 0; i < 2; ++i) MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comms[i ^ is_odd]);
}

/* Each pause is far below the time-out, and together they are far above it. */
static void slowly(void) {
    double longest_s = 0;
    for (int i = 0; i < 40; ++i) {
        const double since_s = MPI_Wtime();
        if (toll_rank == i % toll_world) usleep(100000);
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(in, 1, MPI_DOUBLE, neighbour, 1, out, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (MPI_Wtime() - since_s > longest_s) longest_s = MPI_Wtime() - since_s;
    }
    fprintf(stderr, "rank %d waited %d s at most\n", toll_rank, (int)longest_s);
}

int main(int argc, char** argv) {
    int level;
    how = argc > 2 ? argv[2] : "";
    if (is("threads")) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    } else {
#ifdef AS_FORTRAN /* passes one argument; the others' registers hold anything */
        extern void mpi_init_(int* error, long any, long thing);
        mpi_init_(&level, 16, 16);
#else
        MPI_Init(&argc, &argv);
#endif
    }
    toll_start(argv);
    is_odd = toll_rank == odd;
    neighbour = (toll_rank + 1) % toll_world;
    MPI_Bcast(in, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (is("call")) {
        if (is_odd)
            MPI_Bcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        else
            MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("root")) {
        MPI_Bcast(in, 1, MPI_DOUBLE, is_odd ? 3 : odd, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("cycle")) {
        MPI_Recv(in, 1, MPI_DOUBLE, neighbour, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("message")) {
        if (toll_rank == 1) MPI_Recv(in, 1, MPI_DOUBLE, odd, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        stay_away();
        if (is_odd) MPI_Send(in, 1, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
        toll_await(&toll_page->told, 1);
    } else if (is("order")) {
        other_order();
    } else if (is("threads")) {
        two_threads();
    } else if (is("slow")) {
        slowly();
    } else if (is("later")) {
        message_later(argv[3]);
    } else if (is("wrong")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        const int codes[] = {MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE),
                             MPI_Request_free(NULL), MPI_Start(NULL)};
        for (int i = 0; i < 4; ++i) toll_checks += codes[i] != MPI_SUCCESS;
    } else if (is("begun")) {
        begun_before();
    } else if (is("persistent")) {
        persistent();
    } else if (is("new")) {
        on_a_new_one(argv[3]);
    } else {
        stay_away();
        collective(argc > 3 ? argv[3] : how, MPI_COMM_WORLD);
    }
    return toll_end();
}
