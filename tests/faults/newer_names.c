/* SPDX-License-Identifier: Apache-2.0
 * A program looks for functions of newer MPIs and calls those it finds, with requests that are over and one that is
 * not. */
#include "toll.h"

#include <dlfcn.h>

static void* find(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static void look(MPI_Request* three, int over, int none_left) {
    int (*all)(int, const MPI_Request*, int*,
               MPI_Status*) = (int (*)(int, const MPI_Request*, int*, MPI_Status*))find("MPI_Request_get_status_all");
    int (*any)(int, const MPI_Request*, int*, int*, MPI_Status*) = (int (*)(
        int, const MPI_Request*, int*, int*, MPI_Status*))find("MPI_Request_get_status_any");
    int (*some)(int, const MPI_Request*, int*, int*, MPI_Status*) = (int (*)(
        int, const MPI_Request*, int*, int*, MPI_Status*))find("MPI_Request_get_status_some");
    int flag = 5, which = 5, count = 5, indices[3] = {5, 5, 5};
    MPI_Status statuses[3];
    if (all != NULL) {
        toll_expect(all(3, three, &flag, statuses) == MPI_SUCCESS);
        toll_expect(flag == over);
        toll_expect(all(3, three, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        toll_expect(flag == over);
    }
    if (any != NULL) {
        toll_expect(any(3, three, &which, &flag, statuses) == MPI_SUCCESS);
        toll_expect(flag == over || none_left);
        toll_expect(which == (over && !none_left ? 1 : MPI_UNDEFINED));
    }
    if (some != NULL) {
        toll_expect(some(3, three, &count, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        toll_expect(count == (none_left ? MPI_UNDEFINED : over ? 1 : 0));
        toll_expect(count != 1 || indices[0] == 1);
    }
}

int main(int argc, char** argv) {
    (void)argc;
    int received = 0;
    MPI_Request three[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Init(NULL, NULL);
    toll_start(argv);
    MPI_Barrier(MPI_COMM_WORLD);
    look(three, 1, 1);
    MPI_Irecv(&received, 1, MPI_INT, toll_rank, 0, MPI_COMM_WORLD, &three[1]);
    look(three, 0, 0);
    MPI_Send(&toll_world, 1, MPI_INT, toll_rank, 0, MPI_COMM_WORLD);
    for (int over = 0; !over;) MPI_Request_get_status(three[1], &over, MPI_STATUS_IGNORE);
    look(three, 1, 0);
    MPI_Wait(&three[1], MPI_STATUS_IGNORE);
    toll_expect(received == toll_world);
    return toll_end();
}
