/* SPDX-License-Identifier: Apache-2.0
 * One function for each call that comes here: by its C name and, where the Fortran of an MPI does not come by the C
 * name, by the names that CMakeLists.txt has the linker give to the functions called tollbar_fortran_... A call goes on
 * to the next definition of its name, see names.h; a barrier only where the library does not fit this MPI, or the
 * communicator is left to the MPI. Memory order: as the MPI's. */
#include "attached.h"

#include "failures.h"
#include "names.h"

#include "transports/mpi/host_mpi.h"

#include <stdint.h>

#ifdef TOLLBAR_STANDARD_ABI /* it converts Fortran's handles by another name */
#    define PMPI_Comm_f2c PMPI_Comm_fromint
#endif

/* A handle by value is a word: in the wrong MPI it is of another size, and passed on whole. */
typedef uintptr_t word;
int tollbar_hook_barrier(word comm) __asm__("MPI_Barrier");

static int cross(struct tollbar_attached* attached, MPI_Comm comm, const void* call_site) {
    const struct tollbar_joined* joined = &attached->joined;
    const int revoked = joined->may_be_revoked ? tollbar_is_revoked(comm) : MPI_SUCCESS;
    if (revoked != MPI_SUCCESS) return revoked;
    const int failed = tollbar_mpi_arrive_and_wait(joined->participant, call_site);
    return failed == 0 ? MPI_SUCCESS : tollbar_code_of(joined, failed);
}

static int cross_in_turn(struct tollbar_attached* attached, MPI_Comm comm, const struct tollbar_first* first) {
    pthread_mutex_lock(&attached->turn);
    ++attached->barriers;
    const int code = first->met ? first->error : cross(attached, comm, first->call_site);
    pthread_mutex_unlock(&attached->turn);
    return code;
}

/* Nonzero when tollbar has done it, with the MPI error code to return. */
static inline int barrier(MPI_Comm comm, const void* call_site, int* code) {
    struct tollbar_first first = {.call_site = call_site};
    struct tollbar_attached* attached = tollbar_attached_to(comm, &first);
    if (attached == NULL && first.error == MPI_SUCCESS) return 0;
    *code = first.error;
    if (attached != NULL && tollbar_several_threads) {
        *code = cross_in_turn(attached, comm, &first);
    } else if (attached != NULL) {
        ++attached->barriers;
        if (!first.met) *code = cross(attached, comm, call_site);
    }
    if (*code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, *code);
    return 1;
}

int tollbar_hook_barrier(word comm) {
    int code;
    if (tollbar_fits() && barrier((MPI_Comm)comm, __builtin_return_address(0), &code)) return code;
    return ((int (*)(word))tollbar_next(tollbar_of_barrier))(comm);
}

static int freed(MPI_Comm* comm, enum tollbar_name name) {
    struct tollbar_freeing freeing;
    tollbar_begin_freeing(&freeing, comm);
    const int code = ((int (*)(MPI_Comm*))tollbar_next(name))(comm);
    tollbar_end_freeing(&freeing);
    return code;
}

int MPI_Comm_free(MPI_Comm* comm) { return freed(comm, tollbar_of_comm_free); }

int MPI_Comm_disconnect(MPI_Comm* comm) { return freed(comm, tollbar_of_comm_disconnect); }

static int opened(int code) {
    if (code == MPI_SUCCESS) tollbar_open();
    return code;
}

int MPI_Init(int* argc, char*** argv) {
    return opened(((int (*)(int*, char***))tollbar_next(tollbar_of_init))(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    int (*next)(int*, char***, int, int*) = (int (*)(int*, char***, int, int*))tollbar_next(tollbar_of_init_thread);
    return opened(next(argc, argv, required, provided));
}

/* All arguments of Fortran are addresses, and a function that takes fewer does not look at the rest. `error`, the last
 * one, may be NULL. Nonzero when there is a next definition. */
static int go_on(enum tollbar_name name, void* first, void* second, void* third) {
    void (*next)(void*, void*, void*) = (void (*)(void*, void*, void*))tollbar_next(name);
    if (next != NULL) next(first, second, third);
    return next != NULL;
}

/* A library in the wrong MPI speaks up from the start, one in the right one does what its C name does. */
static void init(enum tollbar_name name, void* first, void* second, void* third) {
    if (go_on(name, first, second, third)) tollbar_open();
}

void tollbar_fortran_init(int* error) { init(tollbar_of_fortran_init, error, NULL, NULL); }

void tollbar_fortran_init_f08(int* error) { init(tollbar_of_fortran_init_f08, error, NULL, NULL); }

void tollbar_fortran_init_thread(int* required, int* provided, int* error) {
    init(tollbar_of_fortran_init_thread, required, provided, error);
}

void tollbar_fortran_init_thread_f08(int* required, int* provided, int* error) {
    init(tollbar_of_fortran_init_thread_f08, required, provided, error);
}

void tollbar_fortran_barrier(int* comm, int* error) {
    int code;
    if (!tollbar_fits() || !barrier(PMPI_Comm_f2c(*comm), __builtin_return_address(0), &code))
        go_on(tollbar_of_fortran_barrier, comm, error, NULL);
    else if (error != NULL)
        *error = code;
}

static void free_comm(enum tollbar_name name, int* comm, int* error) {
    struct tollbar_freeing freeing;
    const MPI_Comm handle = tollbar_fits() ? PMPI_Comm_f2c(*comm) : (MPI_Comm)0;
    tollbar_begin_freeing(&freeing, &handle);
    go_on(name, comm, error, NULL);
    tollbar_end_freeing(&freeing);
}

void tollbar_fortran_comm_free(int* comm, int* error) { free_comm(tollbar_of_fortran_comm_free, comm, error); }

void tollbar_fortran_comm_disconnect(int* comm, int* error) {
    free_comm(tollbar_of_fortran_comm_disconnect, comm, error);
}
