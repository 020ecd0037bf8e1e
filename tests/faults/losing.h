/* SPDX-License-Identifier: Apache-2.0
 * A barrier by messages, one of which is lost while a rank waits for it. Its sender enters the barrier only when the
 * waiting rank has left, which must be with an error. */
#ifndef TOLLBAR_TESTS_FAULTS_LOSING_H
#define TOLLBAR_TESTS_FAULTS_LOSING_H

#include "apart.h"

enum { late = 1, waiting = 2 };

static const char* fault;
static int armed; /* the next message from the late rank is lost */

/* With a communicator on whose errors calls return. `prepare` comes before the last barrier, by `enter`. */
static inline int lose(char** argv, void (*prepare)(void), int (*enter)(MPI_Comm)) {
    MPI_Comm comm;
    int code_class = 0;
    MPI_Init(NULL, NULL);
    toll_start(argv);
    fault = argv[2];
    apart = 1;
    toll_plan("dissemination");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* a request's errors go there in Open MPI 4 */
    struct toll toll = toll_open(comm, 0);
    toll_barrier(&toll, -1);
    toll_meet();
    prepare();
    toll_pay(&toll);
    if (toll_rank == late) toll_await(&toll_page->tell, 1);
    armed = toll_rank == waiting;
    const int code = enter(comm);
    if (toll_rank == waiting) {
        if (code != MPI_SUCCESS) MPI_Error_class(code, &code_class);
        printf("left with class %d of %d\n", code_class, MPI_ERR_INTERN);
        fflush(stdout);
        atomic_store(&toll_page->tell, 1);
    }
    toll_await(&toll_page->told, 1);
    return 0;
}

#endif
