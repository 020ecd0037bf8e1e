/* SPDX-License-Identifier: Apache-2.0
 * The table of calls.txt as the compiler sees it. */
#ifndef TOLLBAR_MISSING_CALLS_H
#define TOLLBAR_MISSING_CALLS_H

enum tollbar_kind {
    tollbar_collective,
    tollbar_begun,
    tollbar_ends,
    tollbar_receives,
    tollbar_sends,
    tollbar_waits,
    tollbar_polls,
    tollbar_completes,
    tollbar_names_comm,
    tollbar_sends_later,
    tollbar_gets_later,
    tollbar_gives,
    tollbar_starts,
    tollbar_drops,
    tollbar_begins,
    tollbar_unwatched
};

/* The places of its arguments, as calls.txt has them. */
struct tollbar_call {
    const char* name;
    enum tollbar_kind kind;
    unsigned char comm, peer, tag, count, type, op, out, gets, of, own, request, served;
};

static const struct tollbar_call tollbar_calls[] = {
#include <calls.inc>
};

static inline int tollbar_counts(enum tollbar_kind kind) { return kind <= tollbar_ends; }

/* All ranks of a communicator, which may be that of the whole job, come to it. */
static inline int tollbar_is_collective(enum tollbar_kind kind) {
    return tollbar_counts(kind) || kind == tollbar_begins;
}

/* A program makes it once. */
static inline int tollbar_is_made_once(enum tollbar_kind kind) {
    return kind == tollbar_begins || kind == tollbar_ends;
}

/* Threads are seen in it. */
static inline int tollbar_is_entered(enum tollbar_kind kind) { return kind <= tollbar_names_comm; }

/* It waits for, or asks about, what others have given. */
static inline int tollbar_takes_requests(const struct tollbar_call* call) {
    return call->kind == tollbar_completes || (call->kind == tollbar_polls && call->request != 0);
}

enum { tollbar_number_of_calls = sizeof tollbar_calls / sizeof *tollbar_calls };

#endif
