/* SPDX-License-Identifier: Apache-2.0
 * A served call goes on to the next definition of its name; a barrier only where the library does not fit this MPI, or
 * the communicator is left to the MPI. Memory order: as the MPI's. */
#include "serving.h"

#include "attached.h"
#include "failures.h"

#include "transports/mpi/host_mpi.h"

#ifdef TOLLBAR_STANDARD_ABI /* it converts Fortran's handles by another name */
#    define PMPI_Comm_f2c PMPI_Comm_fromint
#endif

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

int tollbar_serve_barrier(tollbar_function next, const void* call_site, word comm) {
    int code;
    if (tollbar_fits() && barrier((MPI_Comm)comm, call_site, &code)) return code;
    return ((int (*)(word))next)(comm);
}

int tollbar_serve_comm_free(tollbar_function next, const void* call_site, word comm) {
    (void)call_site;
    struct tollbar_freeing freeing;
    tollbar_begin_freeing(&freeing, (const MPI_Comm*)comm);
    const int code = ((int (*)(word))next)(comm);
    tollbar_end_freeing(&freeing);
    return code;
}

int tollbar_serve_comm_disconnect(tollbar_function next, const void* call_site, word comm) {
    return tollbar_serve_comm_free(next, call_site, comm);
}

static int opened(int code) {
    if (code == MPI_SUCCESS) tollbar_open();
    return code;
}

int tollbar_serve_init(tollbar_function next, const void* call_site, word argc, word argv) {
    (void)call_site;
    return opened(((int (*)(word, word))next)(argc, argv));
}

int tollbar_serve_init_thread(tollbar_function next, const void* call_site, word argc, word argv, word required,
                              word provided) {
    (void)call_site;
    return opened(((int (*)(word, word, word, word))next)(argc, argv, required, provided));
}

/* A library in the wrong MPI speaks up from the start, one in the right one does what its C name does. */
void tollbar_serve_fortran_init(tollbar_function next, const void* call_site, word error, word b, word c, word d) {
    (void)call_site;
    ((void (*)(word, word, word, word))next)(error, b, c, d);
    tollbar_open();
}

void tollbar_serve_fortran_init_thread(tollbar_function next, const void* call_site, word required, word provided,
                                       word error, word d, word e, word f) {
    (void)call_site;
    ((void (*)(word, word, word, word, word, word))next)(required, provided, error, d, e, f);
    tollbar_open();
}

void tollbar_serve_fortran_barrier(tollbar_function next, const void* call_site, word comm, word error, word c) {
    int code;
    if (!tollbar_fits() || !barrier(PMPI_Comm_f2c(*(const int*)comm), call_site, &code))
        ((void (*)(word, word, word))next)(comm, error, c);
    else if (error != 0)
        *(int*)error = code;
}

void tollbar_serve_fortran_comm_free(tollbar_function next, const void* call_site, word comm, word error, word c) {
    (void)call_site;
    struct tollbar_freeing freeing;
    const MPI_Comm handle = tollbar_fits() ? PMPI_Comm_f2c(*(const int*)comm) : (MPI_Comm)0;
    tollbar_begin_freeing(&freeing, &handle);
    ((void (*)(word, word, word))next)(comm, error, c);
    tollbar_end_freeing(&freeing);
}

void tollbar_serve_fortran_comm_disconnect(tollbar_function next, const void* call_site, word comm, word error,
                                           word c) {
    tollbar_serve_fortran_comm_free(next, call_site, comm, error, c);
}
