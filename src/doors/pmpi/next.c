/* SPDX-License-Identifier: Apache-2.0
 * Looked up when first called: a program may open its MPI long after this library was loaded. */
#include "next.h"

#include "family.h"
#include "host_mpi.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

_Atomic int tollbar_next_is_known;
struct tollbar_calls tollbar_next_calls;

/* What a handle of a persistent barrier needs of the calls that it is used in. */
enum need { none, always, where_only_hooks_complete };

static const struct {
    const char* name; /* after MPI_ */
    size_t at;
    enum need need;
} calls[] = {
    {"Init", offsetof(struct tollbar_calls, init), none},
    {"Init_thread", offsetof(struct tollbar_calls, init_thread), none},
    {"Barrier", offsetof(struct tollbar_calls, barrier), none},
    {"Ibarrier", offsetof(struct tollbar_calls, ibarrier), none},
    {"Start", offsetof(struct tollbar_calls, start), always},
    {"Startall", offsetof(struct tollbar_calls, startall), always},
    {"Request_free", offsetof(struct tollbar_calls, request_free), always},
    {"Comm_free", offsetof(struct tollbar_calls, comm_free), none},
    {"Comm_disconnect", offsetof(struct tollbar_calls, comm_disconnect), none},
    {"Wait", offsetof(struct tollbar_calls, wait), where_only_hooks_complete},
    {"Waitall", offsetof(struct tollbar_calls, waitall), where_only_hooks_complete},
    {"Waitany", offsetof(struct tollbar_calls, waitany), where_only_hooks_complete},
    {"Waitsome", offsetof(struct tollbar_calls, waitsome), where_only_hooks_complete},
    {"Test", offsetof(struct tollbar_calls, test), where_only_hooks_complete},
    {"Testall", offsetof(struct tollbar_calls, testall), where_only_hooks_complete},
    {"Testany", offsetof(struct tollbar_calls, testany), where_only_hooks_complete},
    {"Testsome", offsetof(struct tollbar_calls, testsome), where_only_hooks_complete},
    {"Request_get_status", offsetof(struct tollbar_calls, get_status), where_only_hooks_complete},
    {"Barrier_init", offsetof(struct tollbar_calls, barrier_init), none},
    {"Request_get_status_all", offsetof(struct tollbar_calls, get_status_all), none},
    {"Request_get_status_any", offsetof(struct tollbar_calls, get_status_any), none},
    {"Request_get_status_some", offsetof(struct tollbar_calls, get_status_some), none},
};

enum { count = sizeof calls / sizeof *calls };

static tollbar_function next_of(const char* prefix, const char* name) {
    char whole[64];
    snprintf(whole, sizeof whole, "P%s%s", prefix, name);
    const tollbar_function found = tollbar_find(RTLD_NEXT, whole + 1);
    return found != NULL ? found : tollbar_of_program(whole);
}

static void find_once(void) {
    tollbar_find_fit(); /* an MPI that was opened for one library alone can be found then */
    for (int i = 0; i < count; ++i) {
        tollbar_function next = next_of("MPI_", calls[i].name);
        if (next == NULL) next = next_of("MPIX_", calls[i].name); /* Open MPI 4's Barrier_init */
        memcpy((char*)&tollbar_next_calls + calls[i].at, &next, sizeof next);
    }
    atomic_store_explicit(&tollbar_next_is_known, 1, memory_order_release); /* pairs with tollbar_next() */
}

void tollbar_find_next(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_once);
}

/* Whether the first definition of the name that a program finds is in this library. */
static int comes_here(const char* prefix, const char* name) {
    char whole[64];
    Dl_info first, own;
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    void* const found = dlsym(RTLD_DEFAULT, whole);
    return found != NULL && dladdr(found, &first) != 0 && dladdr(&tollbar_next_calls, &own) != 0 &&
           first.dli_fbase == own.dli_fbase;
}

/* Fortran's own, where Fortran does not come by the C names. */
static const char* const of_fortran[] = {"start_", "startall_", "request_free_", "barrier_", "ibarrier_"};
enum { of_fortran_for_handles = 3, of_fortran_count = 5 };

void tollbar_names_that_come_here(char text[tollbar_names_size]) {
    char* end = text;
    for (int i = 0; i < count; ++i) *end++ = comes_here("MPI_", calls[i].name) ? '+' : '-';
    for (int i = 0; i < of_fortran_count; ++i) *end++ = comes_here("mpi_", of_fortran[i]) ? '+' : '-';
    *end = '\0';
}

int tollbar_persistent_calls_come_here(void) {
    int all = 1;
    for (int i = 0; i < count; ++i)
        if (calls[i].need == always || (calls[i].need == where_only_hooks_complete && tollbar_hooks_suffice))
            all = all && comes_here("MPI_", calls[i].name);
    for (int i = 0; i < of_fortran_for_handles && !tollbar_hooks_suffice; ++i)
        all = all && comes_here("mpi_", of_fortran[i]);
    return all;
}

_Static_assert(count + of_fortran_count < tollbar_names_size, "room for all letters");
