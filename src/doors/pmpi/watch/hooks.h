/* SPDX-License-Identifier: Apache-2.0
 * The part that all hooks share. */
#ifndef TOLLBAR_DOORS_PMPI_WATCH_HOOKS_H
#define TOLLBAR_DOORS_PMPI_WATCH_HOOKS_H

#include "watched.h"

#include "transports/mpi/family.h"
#include "transports/mpi/host_mpi.h"

#include <stdint.h>

/* An argument by value is a word, whatever it is in this MPI, and passed on whole. */
typedef uintptr_t word;

static inline uint64_t age_now(void) { return __atomic_load_n(&tollbar_age, __ATOMIC_RELAXED); }

/* `other` where Fortran has a name of the two. NULL only for Fortran's names. */
static inline tollbar_function next_of(tollbar_function* known, const char* name, const char* other) {
    /* Relaxed: the address of a function is all there is to know, and every thread finds the same. */
    tollbar_function next = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (next == NULL) {
        next = tollbar_next_definition(name);
        if (next == NULL && other != NULL) next = tollbar_next_definition(other);
        __atomic_store_n(known, next, __ATOMIC_RELAXED);
    }
    return next;
}

tollbar_in_each_hook int is_seen(unsigned line, uint64_t age) {
    return tollbar_calls[line].kind == tollbar_begins || age != 0;
}

/* The results of a call that count. */
struct gave {
    MPI_Comm comm;
    int found, has_comm;
};

tollbar_in_each_hook struct gave in_c(unsigned line, struct tollbar_entered entered, const void* out) {
    struct gave gave = {0};
    if (entered.seat == NULL || out == NULL) return gave;
    if (tollbar_calls[line].kind == tollbar_creates) gave = (struct gave){*(const MPI_Comm*)out, 0, 1};
    if (tollbar_calls[line].kind == tollbar_polls) gave.found = *(const int*)out != 0;
    return gave;
}

tollbar_in_each_hook struct gave in_fortran(unsigned line, struct tollbar_entered entered, const int* out) {
    struct gave gave = {0};
    if (entered.seat == NULL || out == NULL) return gave;
    if (tollbar_calls[line].kind == tollbar_creates) gave = (struct gave){PMPI_Comm_f2c(*out), 0, 1};
    if (tollbar_calls[line].kind == tollbar_polls) gave.found = *out != 0;
    return gave;
}

/* Fortran 2008 may leave the argument out. */
static inline int code_in(const int* error) { return error == NULL ? MPI_SUCCESS : *error; }

tollbar_in_each_hook struct tollbar_entered before(unsigned line, uint64_t age, const struct tollbar_given* given) {
    if (tollbar_calls[line].kind == tollbar_begins) {
        tollbar_before_init();
        return (struct tollbar_entered){0};
    }
    if (tollbar_calls[line].kind == tollbar_ends) tollbar_before_finalize();
    return tollbar_enter(&tollbar_calls[line], line, age, given);
}

tollbar_in_each_hook void after(unsigned line, struct tollbar_entered entered, int code, struct gave gave) {
    const struct tollbar_call* const call = &tollbar_calls[line];
    if (call->kind == tollbar_begins) {
        if (code == MPI_SUCCESS) tollbar_after_init();
        return;
    }
    if (entered.seat == NULL) return;
    if (gave.has_comm && code == MPI_SUCCESS)
        tollbar_created(gave.comm, entered.known, tollbar_own(&entered.seat->number));
    if (call->kind == tollbar_names_comm && entered.known != NULL) tollbar_was_named(entered.known);
    tollbar_leave_call(call, entered, gave.found);
    if (call->kind == tollbar_ends) tollbar_after_finalize();
}

#endif
