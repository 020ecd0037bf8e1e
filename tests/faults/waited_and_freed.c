/* SPDX-License-Identifier: Apache-2.0
 * A thread waits for an MPI_Ibarrier as Fortran does, while another one ends it by making progress, frees its
 * communicator and makes another. */
#include "toll.h"

#include <dlfcn.h>
#include <pthread.h>

enum { rounds = 20, late = 1 };

static void (*wait_of_fortran)(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error);

static void* wait_for(void* request) {
    MPI_Fint handle = MPI_Request_c2f(*(MPI_Request*)request), error = 1;
    wait_of_fortran(&handle, MPI_F_STATUS_IGNORE, &error);
    toll_expect(error == MPI_SUCCESS);
    return NULL;
}

/* Has what is pending advance. */
static void make_progress(void) {
    MPI_Request none = MPI_REQUEST_NULL;
    int over = 0;
    MPI_Testall(1, &none, &over, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    (void)argc;
    int level = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    toll_start(argv);
    if (level != MPI_THREAD_MULTIPLE) {
        if (toll_rank == 0) puts("skipped: there is no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 0;
    }
    dlopen("libmpi_mpifh.so.40", RTLD_NOW | RTLD_GLOBAL);
    wait_of_fortran = (__typeof__(wait_of_fortran))dlsym(RTLD_DEFAULT, "mpi_wait_");
    toll_plan("turnstile");
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm comm, next;
        MPI_Request request;
        pthread_t waiter;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        toll_meet();
        if (toll_rank == late) usleep(150000);
        if (toll_rank == late) atomic_store(&toll_page->tell, round + 1);
        MPI_Ibarrier(comm, &request);
        pthread_create(&waiter, NULL, wait_for, &request);
        while (atomic_load(&toll_page->tell) <= round) make_progress();
        for (int i = 0; i < 100; ++i) make_progress();
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &next);
        MPI_Barrier(next);
        pthread_join(waiter, NULL);
        MPI_Comm_free(&next);
    }
    return toll_end();
}
