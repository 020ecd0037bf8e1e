/* SPDX-License-Identifier: Apache-2.0
 * The part that all hooks share. */
#ifndef TOLLBAR_DOORS_PMPI_WATCH_HOOKS_H
#define TOLLBAR_DOORS_PMPI_WATCH_HOOKS_H

#include "watched.h"

#include "doors/pmpi/serving.h"
#include "doors/pmpi/wanted.h"
#include "transports/mpi/family.h"
#include "transports/mpi/host_mpi.h"

#include <stdint.h>

/* The program's name of a call that is watched only: one jump to the call's slot, which is the hook until the first
 * call has found that nothing is to be watched, and the next definition from then on. No frame, no branch, and the
 * caller's arguments and return address as they are. */
#ifdef __x86_64__
#    define TOLLBAR_JUMP(slot) "endbr64\n\tjmp *" slot "(%rip)\n"
#elif defined __aarch64__ /* the hint is `bti c` */
#    define TOLLBAR_JUMP(slot) "hint #34\n\tadrp x16, " slot "\n\tldr x16, [x16, :lo12:" slot "]\n\tbr x16\n"
#endif
#define TOLLBAR_STUB(name, hook, slot)                                                            \
    tollbar_hidden tollbar_function slot = (tollbar_function)hook;                                \
    __asm__(".pushsection .text.tollbar_stubs, \"ax\", @progbits\n.globl " #name "\n.type " #name \
            ", %function\n"                                                                       \
            ".balign 16\n" #name ":\n\t" TOLLBAR_JUMP(#slot) ".size " #name ", . - " #name "\n.popsection\n");

/* Another name of the function `name` of this file. */
#define TOLLBAR_SPELLING(spelling, name) \
    __asm__(".globl " #spelling "\n.type " #spelling ", %function\n.set " #spelling ", " #name "\n");

static inline uint64_t age_now(void) { return __atomic_load_n(&tollbar_age, __ATOMIC_RELAXED); }

/* At the first call of a hook. A call that is not watched comes to its hook no more: `slot` has the next definition. */
static __attribute__((cold, noinline)) tollbar_function find_next(tollbar_function* known, const char* name,
                                                                  const char* other, tollbar_function* slot) {
    tollbar_function next = tollbar_next_definition(name);
    if (next == NULL && other != NULL) next = tollbar_next_definition(other);
    /* Relaxed: the address of a function is all there is to know, and every thread finds the same. */
    __atomic_store_n(known, next, __ATOMIC_RELAXED);
    if (next != NULL && slot != NULL && !tollbar_is_wanted()) __atomic_store_n(slot, next, __ATOMIC_RELAXED);
    return next;
}

/* `other` where Fortran has a name of the two; no slot where the call is served. NULL only for Fortran's names. */
static inline tollbar_function next_of(tollbar_function* known, const char* name, const char* other,
                                       tollbar_function* slot) {
    const tollbar_function next = __atomic_load_n(known, __ATOMIC_RELAXED); /* relaxed as in find_next() */
    return tollbar_rare(next == NULL) ? find_next(known, name, other, slot) : next;
}

tollbar_in_each_hook int is_seen(unsigned line, uint64_t age) {
    const enum tollbar_kind kind = tollbar_calls[line].kind;
    return kind == tollbar_begins || (age != 0 && kind != tollbar_unwatched);
}

/* How a call passes its arguments: C by their values, Fortran by their addresses, and handles as numbers there. */
enum language { in_c, in_fortran };

/* The arguments are counted from 1, as calls.txt counts them; where it has 0, that is 0. */
tollbar_in_each_hook int number_at(enum language language, const word* arguments, unsigned place) {
    return language == in_c || place == 0 ? (int)arguments[place] : *(const int*)arguments[place];
}

/* `large`: the counts of C are of 64 bits. Fortran's MPI_IN_PLACE is an address of each MPI's own: any buffer may be in
 * place there. */
tollbar_in_each_hook struct tollbar_given given_in(unsigned line, enum language language, const word* arguments,
                                                   int large, const void* site, const void* frame) {
    const struct tollbar_call* const call = &tollbar_calls[line];
    struct tollbar_given given = {.peer = number_at(language, arguments, call->peer),
                                  .tag = number_at(language, arguments, call->tag),
                                  .count = number_at(language, arguments, call->count),
                                  .gets = number_at(language, arguments, call->gets),
                                  .in_place = call->own != 0,
                                  .site = site,
                                  .frame = frame};
    if (large) {
        given.count = (int64_t)arguments[call->count];
        given.gets = (int64_t)arguments[call->gets];
    }
    if (language == in_c) {
        given.comm = (MPI_Comm)arguments[call->comm];
        given.type = (MPI_Datatype)arguments[call->type];
        given.gets_type = (MPI_Datatype)arguments[call->of];
        given.in_place = call->own != 0 && (const void*)arguments[call->own] == MPI_IN_PLACE;
        given.op = (MPI_Op)arguments[call->op];
    } else {
        if (call->comm != 0) given.comm = PMPI_Comm_f2c(number_at(language, arguments, call->comm));
        if (call->type != 0) given.type = PMPI_Type_f2c(number_at(language, arguments, call->type));
        if (call->of != 0) given.gets_type = PMPI_Type_f2c(number_at(language, arguments, call->of));
        if (call->op != 0) given.op = PMPI_Op_f2c(number_at(language, arguments, call->op));
    }
    if (call->kind == tollbar_ends) given.comm = MPI_COMM_WORLD;
    given.by_numbers = language == in_fortran;
    given.requests = (const void*)arguments[call->request];
    if (call->request != 0 && call->count == 0) given.count = 1;
    return given;
}

/* Fortran 2008 may leave the argument out. */
static inline int code_in(const int* error) { return error == NULL ? MPI_SUCCESS : *error; }

tollbar_in_each_hook struct tollbar_entered enter(unsigned line, uint64_t age, const struct tollbar_given* given) {
    const enum tollbar_kind kind = tollbar_calls[line].kind;
    if (kind == tollbar_begins) tollbar_before_init();
    if (kind == tollbar_drops) tollbar_drop_pending(tollbar_request_at(given, 0));
    if (!tollbar_is_entered(kind)) return (struct tollbar_entered){0};
    if (kind == tollbar_ends) tollbar_before_finalize();
    return tollbar_enter(&tollbar_calls[line], line, age, given);
}

tollbar_in_each_hook void leave(unsigned line, enum language language, struct tollbar_entered entered, uint64_t age,
                                const struct tollbar_given* given, int code, const word* arguments) {
    const struct tollbar_call* const call = &tollbar_calls[line];
    const void* const out = (const void*)arguments[call->out];
    if (call->kind == tollbar_begins) {
        tollbar_after_init();
        return;
    }
    if (call->kind == tollbar_starts && code == MPI_SUCCESS) tollbar_start_requests(given);
    if (call->request != 0 && !tollbar_takes_requests(call) && call->kind != tollbar_starts &&
        call->kind != tollbar_drops && code == MPI_SUCCESS)
        tollbar_keep_request(call, age, tollbar_request_at(given, 0), given, entered);
    if (!tollbar_is_entered(call->kind) || entered.seat == NULL) return;
    if (tollbar_takes_requests(call) && call->count == 0 && tollbar_request_at(given, 0) != entered.request)
        tollbar_drop_pending(entered.request);
    if (call->out != 0 && call->kind != tollbar_polls && out != NULL && code == MPI_SUCCESS)
        tollbar_created(language == in_c ? *(const MPI_Comm*)out : PMPI_Comm_f2c(*(const int*)out), call, entered);
    if (call->kind == tollbar_names_comm && entered.known != NULL) tollbar_was_named(entered.known);
    tollbar_leave_call(call, entered, call->kind == tollbar_polls && out != NULL && *(const int*)out != 0);
    if (call->kind == tollbar_ends) tollbar_after_finalize();
}

/* A hook's halves before and after its call goes on. They are compiled into the hook where a program of C may make the
 * call a million times a second: what its line of the table does not say costs nothing there. All other hooks share one
 * copy, which reads the line. */
tollbar_in_each_hook struct tollbar_entered inlined_before(unsigned line, enum language language, const word* arguments,
                                                           int large, const void* site, const void* frame, uint64_t age,
                                                           struct tollbar_given* given) {
    *given = given_in(line, language, arguments, large, site, frame);
    return enter(line, age, given);
}

tollbar_in_each_hook void inlined_after(unsigned line, enum language language, struct tollbar_entered entered,
                                        uint64_t age, const struct tollbar_given* given, int code,
                                        const word* arguments) {
    leave(line, language, entered, age, given, code, arguments);
}

#ifdef __clang__
#    define tollbar_once __attribute__((noinline))
#else
#    define tollbar_once                                                                            \
        __attribute__((noinline, noclone)) /* GCC makes a copy for each line that it is called with \
                                            */
#endif

static tollbar_once struct tollbar_entered shared_before(unsigned line, enum language language, const word* arguments,
                                                         int large, const void* site, const void* frame, uint64_t age,
                                                         struct tollbar_given* given) {
    return inlined_before(line, language, arguments, large, site, frame, age, given);
}

static tollbar_once void shared_after(unsigned line, enum language language, struct tollbar_entered entered,
                                      uint64_t age, const struct tollbar_given* given, int code,
                                      const word* arguments) {
    inlined_after(line, language, entered, age, given, code, arguments);
}

#endif
