/* SPDX-License-Identifier: Apache-2.0
 * While all others wait in a barrier, one rank dies, or revokes the communicator: each wait ends with the error that
 * the MPI has for that, and those who are left go on with a communicator of their own.
 *
 * usage: failing PAGE CALL EVENT [apart] [threads] [late]; CALL is barrier, wait, test, waitall, start or first, EVENT
 * kill or revoke; `late` keeps another rank, which lives, out of the barrier until the others have left it */
#include "apart.h"

#include <mpi-ext.h>
#include <signal.h>

static const char *call, *event;
static int late;
static MPI_Request handle = MPI_REQUEST_NULL;

static int is(const char* what, const char* word) { return strcmp(what, word) == 0; }

static int by_request(MPI_Comm comm) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, handle};
    MPI_Request* request = is(call, "start") ? &requests[1] : &requests[0];
    MPI_Status statuses[2];
    int over = 0, code = is(call, "start") ? MPI_Start(request) : MPI_Ibarrier(comm, request);
    if (is(call, "test"))
        while (code == MPI_SUCCESS && !over) code = MPI_Test(request, &over, MPI_STATUS_IGNORE);
    else if (code == MPI_SUCCESS && is(call, "waitall")) {
        statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = MPI_SUCCESS;
        code = MPI_Waitall(1, requests, statuses);
        if (code == MPI_ERR_IN_STATUS) code = statuses[0].MPI_ERROR;
    } else if (code == MPI_SUCCESS)
        code = MPI_Wait(request, MPI_STATUS_IGNORE);
    return code;
}

static int enter(MPI_Comm comm) {
    return is(call, "barrier") || is(call, "first") ? MPI_Barrier(comm) : by_request(comm);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double* when(void) { return (double*)&toll_page->board[toll_boards - 1]; }

static void use(MPI_Comm comm, int board) {
    struct toll toll = toll_open(comm, board);
    for (int late = 0; late < toll.ranks; ++late) {
        MPI_Request request;
        toll_barrier(&toll, late);
        toll_pay_turn(&toll, late);
        toll_expect(MPI_Ibarrier(comm, &request) == MPI_SUCCESS);
        toll_expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        toll_check(&toll);
    }
}

int main(int argc, char** argv) {
    MPI_Comm comm, left;
    int level = MPI_THREAD_SINGLE, class = 0;
    for (int i = 4; i < argc; ++i) {
        apart |= is(argv[i], "apart");
        late |= is(argv[i], "late");
        if (is(argv[i], "threads")) level = MPI_THREAD_MULTIPLE;
    }
    MPI_Init_thread(&argc, &argv, level, &level);
    toll_start(argv);
    call = argv[2];
    event = argv[3];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct toll toll = toll_open(comm, 0);
    if (!is(call, "first")) {
        toll_barrier(&toll, -1);
        toll_barrier(&toll, 0);
    }
    if (is(call, "start")) toll_expect(MPI_Barrier_init(comm, MPI_INFO_NULL, &handle) == MPI_SUCCESS);
    toll_meet();
    const int victim = toll_world - 1;
    if (toll_rank == victim) {
        toll_pay_late(&toll);
        usleep(100000); /* the others are deep in it */
        *when() = now_s();
        if (is(event, "kill")) raise(SIGKILL);
        MPIX_Comm_revoke(comm);
    } else {
        toll_pay(&toll);
        if (late && toll_rank == 1) toll_await(&toll_page->told, toll_world - 2);
    }
    const int code = enter(comm);
    atomic_fetch_add(&toll_page->told, 1);
    if (toll_rank == 0) printf("ended after %.0f ms\n", (now_s() - *when()) * 1e3);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    toll_expect(class == (is(event, "kill") ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED));
    toll_expect(MPI_Barrier(comm) != MPI_SUCCESS);
    toll_expect(MPIX_Comm_shrink(comm, &left) == MPI_SUCCESS);
    use(left, 1);
    MPI_Comm_free(&left);
    MPI_Comm_free(&comm);
    if (toll_rank == 0) printf("passed: %ld checks\n", toll_checks);
    fflush(stdout);
    if (is(event, "kill")) _exit(0); /* where a rank has died, Open MPI's MPI_Finalize does not always come back */
    MPI_Finalize();
    return 0;
}
