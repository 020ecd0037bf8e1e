/* SPDX-License-Identifier: Apache-2.0
 * The file of memory that the watched ranks of a host share: which call each of their threads is in, and how many
 * collective calls each has made on each communicator. /proc/PID/fd of any of the ranks leads to it; the name
 * /dev/shm/tollbar.UID.calls.* is gone once MPI_Init is over. Each of them holds a shared flock(2) on it.
 *
 * Memory order: each word has one writer. A seat's other words are stored relaxed before `at`, which is stored with
 * release; a reader loads `at` with acquire before and after them, and uses them where it has not changed. */
#ifndef TOLLBAR_MISSING_SEATS_H
#define TOLLBAR_MISSING_SEATS_H

#include <stdint.h>

enum {
    tollbar_rows = 1024,      /* ranks of a host; further ones are not watched */
    tollbar_seats = 64,       /* threads of a rank that are alive and have called the MPI; of further ones only the
                                 collective calls are counted */
    tollbar_comms = 128,      /* communicators of a rank at a time; calls of further ones go by their names alone */
    tollbar_kept = 4,         /* collective calls of each */
    tollbar_persistent = 16,  /* persistent collective calls of a rank, of which the starts are counted */
    tollbar_long_ns = 100000, /* a shorter stay in a call is no wait for anybody */
    tollbar_world = 1,        /* the identity of MPI_COMM_WORLD */
    tollbar_seats_version = 7
};

enum tollbar_state {
    tollbar_outside, /* of the MPI */
    tollbar_inside,  /* of the call */
    tollbar_polling, /* the call has found nothing, and is the last one that was made; see `polls` */
    tollbar_vacant   /* the seat's thread has ended */
};

/* The purpose of a request. */
enum tollbar_purpose {
    tollbar_no_way, /* not known, or for several partners or calls at once */
    tollbar_to,     /* a message to the partner */
    tollbar_from,
    tollbar_to_or_from,
    tollbar_of_all,    /* a collective call that has been begun */
    tollbar_of_started /* a start of a persistent collective call */
};

/* The call a thread is in, or was in last; a cache line of its own. */
struct tollbar_seat {
    uint64_t at;     /* from the lowest bit: 2 of state, 10 of the call's line in calls.txt, 12 of the communicator's
                        index plus one (0: not known), 40 that count the calls */
    uint64_t site;   /* the address the call returns to */
    uint64_t number; /* of the collective call on its communicator, or of that which its request is for; 0: none */
    int32_t peer;    /* the partner's rank in MPI_COMM_WORLD; -1: any; -2: not known */
    int32_t tag;     /* -1: any */
    uint64_t last;   /* the identity of the communicator of this thread's last collective call; 0: it has made none */
    uint64_t last_number; /* of that call */
    int32_t thread;       /* as the kernel numbers them */
    int32_t way;          /* enum tollbar_purpose, of a call that has requests */
    uint64_t polls;       /* repeated ones of the call that it polls by */
};

/* A collective call on a communicator. */
struct tollbar_counted {
    uint64_t what;  /* 16 bits of the call's line, 16 of the operation, 32 of the root plus one (0: none) */
    uint64_t gives; /* bytes, to each rank or to the root; where a rank only gives or only gets, those; all ones: not
                       known, or may differ from rank to rank */
    uint64_t gets;  /* of each rank or of the root, where that is another buffer; all ones as above */
    uint64_t site;
    uint64_t entered_ns; /* of CLOCK_MONOTONIC, where waits are accounted for */
};

struct tollbar_comm {
    uint64_t id;    /* the same on all its ranks; 0: nobody's */
    uint64_t count; /* of collective calls so far */
    uint64_t size;
    uint64_t freed; /* 0: it is in use; else the place in the order of those that were freed. Such a one stays until its
                       index is needed, for others may still be in a call that this rank has left */
    struct tollbar_counted last[tollbar_kept]; /* number n is in n % tollbar_kept */
    char name[64];
};

/* A persistent collective call, which ranks start in any order. */
struct tollbar_started {
    uint64_t id;     /* of its communicator */
    uint64_t number; /* of the call there that has made it; 0: none */
    uint64_t times;
};

struct tollbar_row {
    uint64_t state; /* below */
    int32_t rank;   /* in MPI_COMM_WORLD */
    int32_t process;
    uint64_t start;             /* of the process: detail::start_of() */
    uint64_t used;              /* seats that threads have had so far: the first ones */
    uint64_t unseen;            /* threads that are alive and found no seat */
    uint64_t last, last_number; /* those of the thread that ended last */
    uint64_t unused;
    struct tollbar_started started[tollbar_persistent];
    struct tollbar_seat seats[tollbar_seats];
    struct tollbar_comm comms[tollbar_comms];
};

enum tollbar_row_state { tollbar_row_free, tollbar_row_used, tollbar_row_left };

struct tollbar_seats_file {
    uint64_t version;
    uint64_t taken;       /* rows so far */
    uint64_t reported_ns; /* of CLOCK_MONOTONIC: when a rank of this host has reported last */
    uint64_t stood_ns;    /* the same, or has told for other hosts where the ranks stand */
    uint64_t refused;     /* a rank found no room for its row, and has said so */
    uint64_t account;     /* whether its ranks give one: see seats.cpp */
    uint64_t unused[2];
    struct tollbar_row rows[tollbar_rows];
};

static inline uint64_t tollbar_at(uint64_t serial, unsigned comm, unsigned call, enum tollbar_state state) {
    return serial << 24 | (uint64_t)comm << 12 | (uint64_t)call << 2 | (uint64_t)state;
}

static inline uint64_t tollbar_serial_of(uint64_t at) { return at >> 24; }
static inline unsigned tollbar_comm_of(uint64_t at) { return (unsigned)(at >> 12) & 0xfffU; }
static inline unsigned tollbar_call_of(uint64_t at) { return (unsigned)(at >> 2) & 0x3ffU; }
static inline enum tollbar_state tollbar_state_of(uint64_t at) { return (enum tollbar_state)(at & 3U); }

#endif
