/* SPDX-License-Identifier: Apache-2.0
 * What a barrier sends is never received nor seen by a program that takes messages from anybody with any tag, and the
 * program's own messages wait for it across barriers.
 *
 * usage: user_traffic PAGE PLANS... */
#include "toll.h"

enum { pending = 4, rounds = 12, tag_of_mine = 77 };

static void barriers(struct toll* toll) {
    for (int round = 0; round < rounds; ++round) {
        toll_barrier(toll, round % toll->ranks);
        MPI_Request request;
        toll_pay_turn(toll, (round + 1) % toll->ranks);
        MPI_Ibarrier(toll->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(toll);
    }
}

static int anything_there(MPI_Comm comm) {
    int found = 0;
    for (int look = 0; look < 3 && !found; ++look)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    return found;
}

/* Receives from anybody stay pending while barriers go on around them. */
static void nothing_is_received(struct toll* toll) {
    MPI_Request receives[pending];
    int words[pending], index = 0, over = 0;
    for (int i = 0; i < pending; ++i)
        MPI_Irecv(&words[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, toll->comm, &receives[i]);
    barriers(toll);
    MPI_Testany(pending, receives, &index, &over, MPI_STATUS_IGNORE);
    toll_expect(!over);
    toll_meet(); /* or else somebody's message could be there already */
    const int right = (toll->rank + 1) % toll->ranks, left = (toll->rank + toll->ranks - 1) % toll->ranks;
    for (int i = 0; i < pending; ++i) MPI_Send(&i, 1, MPI_INT, right, tag_of_mine + i, toll->comm);
    MPI_Status statuses[pending];
    MPI_Waitall(pending, receives, statuses);
    for (int i = 0; i < pending; ++i) {
        int count = 0;
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        toll_expect(statuses[i].MPI_SOURCE == left && statuses[i].MPI_TAG == tag_of_mine + i);
        toll_expect(count == 1 && words[i] == i);
    }
}

/* Probes see nothing of a barrier, and only the program's own message when there is one. */
static void nothing_is_seen(struct toll* toll) {
    for (int round = 0; round < 3; ++round) {
        MPI_Request request;
        toll_pay(toll);
        MPI_Ibarrier(toll->comm, &request);
        toll_expect(!anything_there(toll->comm));
        toll_expect(!anything_there(MPI_COMM_WORLD));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        toll_check(toll);
    }
    toll_meet();
    const int right = (toll->rank + 1) % toll->ranks, left = (toll->rank + toll->ranks - 1) % toll->ranks;
    int sent = toll->rank, received = -1;
    MPI_Request send;
    MPI_Isend(&sent, 1, MPI_INT, right, tag_of_mine, toll->comm, &send);
    barriers(toll);
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, toll->comm, &status);
    toll_expect(status.MPI_SOURCE == left && status.MPI_TAG == tag_of_mine);
    MPI_Recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, toll->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    toll_expect(received == left);
    toll_expect(!anything_there(toll->comm));
    toll_meet();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll world = toll_open(MPI_COMM_WORLD, 0);
    nothing_is_received(&world);
    nothing_is_seen(&world);
    for (int i = 2; i < argc; ++i) {
        MPI_Comm comm;
        toll_plan(argv[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct toll toll = toll_open(comm, i);
        nothing_is_received(&toll);
        nothing_is_seen(&toll);
        MPI_Comm_free(&comm);
    }
    return toll_end();
}
