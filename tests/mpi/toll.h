/* SPDX-License-Identifier: Apache-2.0
 * What every program here shares: a page of memory by which its ranks see each other without the MPI, the toll that
 * fails for a barrier that does nothing, and a last line that says how much was checked.
 *
 * The page is a file, named by the first argument. The test's script reads it and writes to it too. */
#ifndef TOLLBAR_TESTS_MPI_TOLL_H
#define TOLLBAR_TESTS_MPI_TOLL_H

#include "../../include/tollbar/toll.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { toll_ranks = 256, toll_boards = 600 };

/* The tolls that the ranks of one communicator see of each other. */
struct toll_board {
    struct tollbar_toll tolls[toll_ranks];
};

struct toll_page {
    atomic_int told;                /* the script tells the ranks */
    atomic_int tell;                /* the ranks tell the script */
    atomic_int process[toll_ranks]; /* who to let go on, and who must be gone at the end */
    atomic_int corner[toll_ranks];  /* how often each rank has been at toll_meet */
    struct toll_board board[toll_boards];
};

/* One rank's way through the barriers of one communicator. */
struct toll {
    struct toll_board* board;
    MPI_Comm comm;
    int rank;
    int ranks;
    int episode;
};

static struct toll_page* toll_page;
static int toll_rank; /* in MPI_COMM_WORLD */
static int toll_world;
static long toll_checks;
static const char* toll_first_plan; /* TOLLBAR_PLAN as the program was started; NULL without */

enum { toll_exit_code = 3 };

/* Launchers may lose what is said right before the end, hence the time. */
#define toll_fail(...)                                     \
    do {                                                   \
        fprintf(stderr, "FAILED: rank %d: ", toll_rank);   \
        fprintf(stderr, __VA_ARGS__);                      \
        fprintf(stderr, " (%s:%d)\n", __FILE__, __LINE__); \
        usleep(200000);                                    \
        MPI_Abort(MPI_COMM_WORLD, toll_exit_code);         \
        _exit(toll_exit_code);                             \
    } while (0)

#define toll_expect(condition)                                   \
    do {                                                         \
        ++toll_checks;                                           \
        if (!(condition)) toll_fail("not true: %s", #condition); \
    } while (0)

/* Lets others go first. Nothing depends on how long it takes. */
static inline void toll_pause(void) {
    const struct timespec moment = {0, 50000};
    nanosleep(&moment, NULL);
}

static inline void toll_await(const atomic_int* word, int value) {
    while (atomic_load(word) < value) toll_pause();
}

/* Returns when that rank has come to the gate of that episode. */
static inline void toll_await_entry(const struct toll_board* board, int rank, int episode) {
    while (tollbar_toll_entered(board->tolls, (unsigned)rank) < (uint64_t)episode) toll_pause();
}

/* After MPI_Init. */
static inline void toll_start(char** argv) {
    MPI_Comm_rank(MPI_COMM_WORLD, &toll_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &toll_world);
    const char* plan = getenv("TOLLBAR_PLAN");
    toll_first_plan = plan == NULL ? NULL : strdup(plan);
    const int file = open(argv[1], O_RDWR);
    if (file < 0) toll_fail("cannot open %s", argv[1]);
    toll_page = mmap(NULL, sizeof *toll_page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (toll_page == MAP_FAILED) toll_fail("cannot map %s", argv[1]);
    atomic_store(&toll_page->process[toll_rank], (int)getpid());
}

/* All ranks meet here without the MPI, so that nothing of it is tested or kept busy. */
static inline void toll_meet(void) {
    const int time = atomic_fetch_add(&toll_page->corner[toll_rank], 1) + 1;
    for (int rank = 0; rank < toll_world; ++rank) toll_await(&toll_page->corner[rank], time);
}

/* A communicator's group takes a board that no other has had. */
static inline struct toll toll_open(MPI_Comm comm, int board) {
    struct toll toll = {.comm = comm, .episode = 0};
    MPI_Comm_rank(comm, &toll.rank);
    MPI_Comm_size(comm, &toll.ranks);
    if (board >= toll_boards) toll_fail("there is no board %d", board);
    toll.board = &toll_page->board[board];
    return toll;
}

/* Right before the barrier. */
static inline void toll_pay(struct toll* toll) {
    ++toll->episode;
    tollbar_toll_pay(toll->board->tolls, (unsigned)toll->rank, (uint64_t)toll->episode);
}

/* Right after that episode: everybody has paid for it. */
static inline void toll_check_episode(const struct toll* toll, int episode) {
    const unsigned ranks = (unsigned)toll->ranks;
    const unsigned missing = tollbar_toll_leave(toll->board->tolls, ranks, (unsigned)toll->rank, (uint64_t)episode);
    if (missing != ranks)
        toll_fail("left barrier %d of %d ranks before rank %u had entered it", episode, toll->ranks, missing);
    ++toll_checks;
}

static inline void toll_check(const struct toll* toll) { toll_check_episode(toll, toll->episode); }

/* In place of toll_pay: pays only when all others are at the gate, and have had the time to go wrong. */
static inline void toll_pay_late(struct toll* toll) {
    for (int rank = 0; rank < toll->ranks; ++rank)
        if (rank != toll->rank) toll_await_entry(toll->board, rank, toll->episode + 1);
    toll_pause();
    toll_pay(toll);
}

/* One of both; nobody is late when `late` is no rank. */
static inline void toll_pay_turn(struct toll* toll, int late) {
    if (late == toll->rank) {
        toll_pay_late(toll);
    } else {
        toll_pay(toll);
    }
}

static inline void toll_barrier(struct toll* toll, int late) {
    toll_pay_turn(toll, late);
    if (MPI_Barrier(toll->comm) != MPI_SUCCESS) toll_fail("MPI_Barrier failed");
    toll_check(toll);
}

/* The communicators made from here on run that plan; with "" what the environment said at first. */
static inline void toll_plan(const char* plan) {
    if (plan[0] == '\0') plan = toll_first_plan;
    if (plan == NULL) {
        unsetenv("TOLLBAR_PLAN");
    } else {
        setenv("TOLLBAR_PLAN", plan, 1);
    }
}

/* Ends the program, well; rank 0 says so. */
static inline int toll_end(void) {
    long sum = 0;
    MPI_Reduce(&toll_checks, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (toll_rank == 0) printf("passed: %ld checks\n", sum);
    return 0;
}

#endif
