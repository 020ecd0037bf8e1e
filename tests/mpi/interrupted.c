/* SPDX-License-Identifier: Apache-2.0
 * Signals that interrupt system calls, and ranks that are stopped and let go on, neither end a barrier early nor keep
 * it from ending.
 *
 * usage: interrupted PAGE PLANS... */
#include "toll.h"

#include <signal.h>
#include <sys/time.h>

enum { rounds = 16, storm = 10 };

static volatile sig_atomic_t alarms;

static void count(int number) {
    (void)number;
    ++alarms;
}

static void interrupt_every(long us) {
    const struct itimerval timer = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The last to come stops the others and lets them go on, over and over, while they wait for it. */
static void storm_and_pay(struct toll* toll) {
    for (int rank = 0; rank < toll->ranks; ++rank)
        if (rank != toll->rank) toll_await_entry(toll->board, rank, toll->episode + 1);
    for (int i = 0; i < storm; ++i)
        for (int sign = 0; sign < 2; ++sign) {
            for (int rank = 0; rank < toll->ranks; ++rank)
                if (rank != toll->rank) kill(toll_page->process[rank], sign == 0 ? SIGSTOP : SIGCONT);
            toll_pause();
        }
    toll_pay(toll);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct sigaction action = {.sa_handler = count}; /* without SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    for (int i = 2; i < argc; ++i) {
        MPI_Comm comm;
        toll_plan(argv[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct toll toll = toll_open(comm, i - 2);
        interrupt_every(700);
        for (int round = 0; round < rounds; ++round) {
            MPI_Request request;
            if (round % toll.ranks == toll.rank) {
                storm_and_pay(&toll);
            } else {
                toll_pay(&toll);
            }
            if (round % 4 != 3) {
                MPI_Barrier(comm);
            } else {
                MPI_Ibarrier(comm, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            toll_check(&toll);
        }
        while (alarms == 0) toll_pause();
        interrupt_every(0);
        MPI_Comm_free(&comm);
    }
    return toll_end();
}
