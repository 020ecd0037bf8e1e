/* SPDX-License-Identifier: Apache-2.0
 * Plays a program of MPI that is data: a line a step, "RANK LANE WORD NUMBER...", where a rank's lane 0 is its main
 * thread and other lanes are threads that it starts. Each step's begin and end are written down, and whatever is
 * received is checked.
 *
 * usage: random_program PROGRAM PAGE threads|alone [spins]; the page has room for struct page, and the test reads it,
 * too. A rank that waits leaves its CPU to others, unless it spins. */
#define _GNU_SOURCE
#include "random_data.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef OPEN_MPI
#    include <mpi-ext.h>
#    define PERSISTENT(name) MPIX_##name##_init
#else
#    define PERSISTENT(name) MPI_##name##_init
#endif

enum { most_steps = 1 << 16, most_numbers = 24, most_lanes = 1 << 12, most_comms = 1 << 13, most_slots = 1 << 16 };

struct page {
    int process[8];
    struct {
        double began, ended; /* of CLOCK_MONOTONIC */
    } steps[most_steps];
};

struct step {
    int line, lane, number[most_numbers];
    char word[16];
};

enum how { blocking, nonblocking, persistent };

static struct page* page;
static struct step* steps;
static int number_of_steps, rank_here, spins;
static MPI_Comm comms[most_comms];
static struct pending slots[most_slots];
static pthread_t threads[most_lanes];

/* Open MPI calls this when it waits, ... */
int sched_yield(void) { return spins ? 0 : usleep(500); }

/* ... and MPICH that, for what it has of UCX. */
unsigned ucp_worker_progress(void* worker) {
    static unsigned (*progress)(void*);
    if (progress == NULL) progress = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    if (events == 0 && !spins) usleep(500);
    return events;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* One that is over; a persistent one may begin again. */
static void end(struct pending* one) {
    if (one->what == meeting) expect_meeting(one);
    for (int i = 0; one->what == receiving && i < one->count; ++i) expect(one, i, element(one->salt, 0, i));
    if (one->is_persistent) return; /* MPICH 4.0 copies a rank's own part at the first start alone */
    if (one->what == making) {
        char name[16];
        snprintf(name, sizeof name, "c%d", one->comm);
        MPI_Comm_set_name(comms[one->comm], name);
    }
    free(one->from);
    free(one->to);
    memset(one, 0, sizeof *one);
}

#define MEET(name, begun, ...)                                                        \
    do {                                                                              \
        if (how == blocking) MPI_##name(__VA_ARGS__);                                 \
        if (how == nonblocking) MPI_##begun(__VA_ARGS__, request);                    \
        if (how == persistent) PERSISTENT(name)(__VA_ARGS__, MPI_INFO_NULL, request); \
    } while (0)

/* meet COMM KIND HOW SLOT COUNT ROOT SALT UNCHECKED */
static void meet(const int* number) {
    struct pending* one = &slots[number[3]];
    const MPI_Comm comm = comms[number[0]];
    const enum how how = (enum how)number[2];
    const int n = number[4], root = number[5];
    const MPI_Datatype type = MPI_UNSIGNED;
    int between = 0, counts[most_ranks], places[most_ranks];
    *one = (struct pending){.what = number[7] != 0 ? nothing : meeting,
                            .kind = (enum kind)number[1],
                            .comm = number[0],
                            .count = n,
                            .root = root,
                            .salt = number[6],
                            .is_persistent = how == persistent};
    MPI_Comm_rank(comm, &one->rank);
    MPI_Comm_size(comm, &one->ranks);
    MPI_Comm_test_inter(comm, &between);
    if (between) MPI_Comm_remote_size(comm, &one->ranks);
    one->from = malloc(sizeof *one->from * (size_t)(n * most_ranks));
    one->to = calloc((size_t)(n * (most_ranks + 2)), sizeof *one->to);
    unsigned *const from = one->from, *const to = one->to;
    for (int i = 0; i < n * most_ranks; ++i) from[i] = element(one->salt, one->rank, i);
    for (int i = 0; i < most_ranks; ++i) counts[i] = n, places[i] = i * n;
    if (one->kind == bcast && one->rank == root) memcpy(to, from, sizeof *to * (size_t)n);
    MPI_Request* const request = &one->request;
    switch (one->kind) {
        case barrier: MEET(Barrier, Ibarrier, comm); break;
        case bcast: MEET(Bcast, Ibcast, to, n, type, root, comm); break;
        case reduce: MEET(Reduce, Ireduce, from, to, n, type, MPI_SUM, root, comm); break;
        case allreduce: MEET(Allreduce, Iallreduce, from, to, n, type, MPI_SUM, comm); break;
        case gather: MEET(Gather, Igather, from, n, type, to, n, type, root, comm); break;
        case scatter: MEET(Scatter, Iscatter, from, n, type, to, n, type, root, comm); break;
        case allgather: MEET(Allgather, Iallgather, from, n, type, to, n, type, comm); break;
        case alltoall: MEET(Alltoall, Ialltoall, from, n, type, to, n, type, comm); break;
        case scan: MEET(Scan, Iscan, from, to, n, type, MPI_SUM, comm); break;
        case exscan: MEET(Exscan, Iexscan, from, to, n, type, MPI_SUM, comm); break;
        case reduce_scatter_block:
            MEET(Reduce_scatter_block, Ireduce_scatter_block, from, to, n, type, MPI_SUM, comm);
            break;
        case allgatherv: MEET(Allgatherv, Iallgatherv, from, n, type, to, counts, places, type, comm); break;
        case alltoallv:
            if (how == blocking) MPI_Alltoallv(from, counts, places, type, to, counts, places, type, comm);
            break;
        case neighbor_allgather: MEET(Neighbor_allgather, Ineighbor_allgather, from, n, type, to, n, type, comm); break;
    }
    if (how == blocking) end(one);
}

/* wait HOW SLOTS SLOT...: together, one by one as they end, or by tests */
static void await_all(const int* number) {
    MPI_Request requests[most_numbers];
    const int how = number[0], all = number[1];
    int index = 0, done = 0, indices[most_numbers];
    for (int i = 0; i < all; ++i) requests[i] = slots[number[2 + i]].request;
    if (how == 0 && all == 1) MPI_Wait(requests, MPI_STATUS_IGNORE);
    if (how == 0 && all > 1) MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
    for (; how == 1 && done < all; ++done) MPI_Waitany(all, requests, &index, MPI_STATUS_IGNORE);
    while (how == 2 && !done) {
        if (all == 1) MPI_Test(requests, &done, MPI_STATUS_IGNORE);
        if (all > 1) MPI_Testall(all, requests, &done, MPI_STATUSES_IGNORE);
        if (!done) usleep(500);
    }
    while (how == 3 && done < all) {
        MPI_Waitsome(all, requests, &index, indices, MPI_STATUSES_IGNORE);
        done += index;
    }
    while (how == 4 && done < all) {
        int found = 0;
        MPI_Testany(all, requests, &index, &found, MPI_STATUS_IGNORE);
        done += found;
        if (!found) usleep(500);
    }
    for (int i = 0; i < all; ++i) {
        slots[number[2 + i]].request = requests[i];
        end(&slots[number[2 + i]]);
    }
}

/* send COMM DEST TAG COUNT SALT HOW SLOT */
static void send(const int* number) {
    struct pending* one = &slots[number[6]];
    const MPI_Comm comm = comms[number[0]];
    const int n = number[3];
    *one = (struct pending){.what = sending, .count = n};
    one->from = malloc(sizeof *one->from * (size_t)n);
    for (int i = 0; i < n; ++i) one->from[i] = element(number[4], 0, i);
    if (number[5] == 0) MPI_Send(one->from, n, MPI_UNSIGNED, number[1], number[2], comm);
    if (number[5] == 1) MPI_Ssend(one->from, n, MPI_UNSIGNED, number[1], number[2], comm);
    if (number[5] == 2)
        MPI_Isend(one->from, n, MPI_UNSIGNED, number[1], number[2], comm, &one->request);
    else
        end(one);
}

/* receive COMM SOURCE TAG COUNT SALT HOW SLOT */
static void receive(const int* number) {
    struct pending* one = &slots[number[6]];
    const MPI_Comm comm = comms[number[0]];
    const int n = number[3], how = number[5], tag = number[2];
    int from = how == 1 ? MPI_ANY_SOURCE : number[1], found = 0;
    MPI_Message message;
    *one = (struct pending){.what = receiving, .count = n, .salt = number[4]};
    one->to = calloc((size_t)n, sizeof *one->to);
    if (how == 2) {
        MPI_Irecv(one->to, n, MPI_UNSIGNED, from, tag, comm, &one->request);
        return;
    }
    if (how == 3) MPI_Probe(from, tag, comm, MPI_STATUS_IGNORE);
    while (how == 4 && !found) {
        MPI_Iprobe(from, tag, comm, &found, MPI_STATUS_IGNORE);
        if (!found) usleep(500);
    }
    if (how == 5) {
        MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(one->to, n, MPI_UNSIGNED, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(one->to, n, MPI_UNSIGNED, from, tag, comm, MPI_STATUS_IGNORE);
    }
    end(one);
}

/* swap COMM DEST SOURCE TAG COUNT SALT_SENT SALT_RECEIVED SLOT */
static void swap(const int* number) {
    struct pending* one = &slots[number[7]];
    const int n = number[4], tag = number[3];
    *one = (struct pending){.what = receiving, .count = n, .salt = number[6]};
    one->from = malloc(sizeof *one->from * (size_t)n);
    one->to = calloc((size_t)n, sizeof *one->to);
    for (int i = 0; i < n; ++i) one->from[i] = element(number[5], 0, i);
    MPI_Sendrecv(one->from, n, MPI_UNSIGNED, number[1], tag, one->to, n, MPI_UNSIGNED, number[2], tag, comms[number[0]],
                 MPI_STATUS_IGNORE);
    end(one);
}

/* WORD COMM NEW NUMBER... */
static void make(const char* word, const int* number) {
    const MPI_Comm comm = comms[number[0]];
    MPI_Comm* made = &comms[number[1]];
    struct pending one = {.what = making, .comm = number[1]};
    if (strcmp(word, "dup") == 0) MPI_Comm_dup(comm, made);
    if (strcmp(word, "idup") == 0) { /* SLOT */
        slots[number[2]] = one;
        MPI_Comm_idup(comm, made, &slots[number[2]].request);
        return;
    }
    if (strcmp(word, "split") == 0) MPI_Comm_split(comm, number[2] < 0 ? MPI_UNDEFINED : number[2], number[3], made);
    if (strcmp(word, "cart") == 0) MPI_Cart_create(comm, 1, &number[2], (const int[]){1}, 0, made);
    if (strcmp(word, "inter") == 0) /* BRIDGE LEADER REMOTE_LEADER TAG */
        MPI_Intercomm_create(comm, number[3], comms[number[2]], number[4], number[5], made);
    if (strcmp(word, "merge") == 0) MPI_Intercomm_merge(comm, number[2], made);
    if (strcmp(word, "create") == 0 || strcmp(word, "group") == 0) { /* TAG RANKS RANK... */
        MPI_Group all, some;
        MPI_Comm_group(comm, &all);
        MPI_Group_incl(all, number[3], &number[4], &some);
        if (strcmp(word, "create") == 0) MPI_Comm_create(comm, some, made);
        if (strcmp(word, "group") == 0) MPI_Comm_create_group(comm, some, number[2], made);
        MPI_Group_free(&all);
        MPI_Group_free(&some);
    }
    if (*made != MPI_COMM_NULL) end(&one);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long spun;

static void compute(double seconds) {
    for (const double since = now(); now() - since < seconds;) ++spun;
}

/* WAY COMM PEER: nobody sends or receives anything of tag 999. */
static void go_astray(const char* way, const int* number) {
    const MPI_Comm comm = comms[number[0]];
    MPI_Request request;
    int found = 0;
    unsigned data = 0;
    if (strcmp(way, "stopped") == 0) raise(SIGSTOP);
    if (strcmp(way, "killed") == 0) raise(SIGKILL);
    if (strcmp(way, "exited") == 0) _exit(0);
    if (strcmp(way, "loops") == 0) compute(1e9);
    for (int i = 0; i < 2 && strcmp(way, "locks") == 0; ++i) pthread_mutex_lock(&lock);
    if (strcmp(way, "meets") == 0) MPI_Barrier(comm);
    if (strcmp(way, "receives") == 0) MPI_Recv(&data, 1, MPI_UNSIGNED, number[1], 999, comm, MPI_STATUS_IGNORE);
    if (strcmp(way, "sends") == 0) MPI_Ssend(&data, 1, MPI_UNSIGNED, number[1], 999, comm);
    if (strcmp(way, "awaits") == 0 || strcmp(way, "tests") == 0)
        MPI_Irecv(&data, 1, MPI_UNSIGNED, number[1], 999, comm, &request);
    if (strcmp(way, "awaits") == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (strcmp(way, "tests") == 0) MPI_Test(&request, &found, MPI_STATUS_IGNORE);
    while (strcmp(way, "probes") == 0) MPI_Iprobe(number[1], 999, comm, &found, MPI_STATUS_IGNORE);
    for (;;) pause();
}

static void* play(void* lane);

static void do_step(const struct step* step) {
    const int* number = step->number;
    const char* word = step->word;
    if (strcmp(word, "meet") == 0) meet(number);
    if (strcmp(word, "start") == 0) MPI_Start(&slots[number[0]].request);
    if (strcmp(word, "wait") == 0) await_all(number);
    if (strcmp(word, "release") == 0) {
        MPI_Request_free(&slots[number[0]].request);
        slots[number[0]].what = nothing;
        slots[number[0]].is_persistent = 0;
        end(&slots[number[0]]);
    }
    if (strcmp(word, "send") == 0) send(number);
    if (strcmp(word, "receive") == 0) receive(number);
    if (strcmp(word, "swap") == 0) swap(number);
    if (strcmp(word, "free") == 0) MPI_Comm_free(&comms[number[0]]);
    if (strcmp(word, "compute") == 0) compute(1e-3 * number[0]);
    if (strcmp(word, "sleep") == 0) usleep(1000U * (unsigned)number[0]);
    if (strcmp(word, "spawn") == 0) pthread_create(&threads[number[0]], NULL, play, (void*)(intptr_t)number[0]);
    if (strcmp(word, "join") == 0) pthread_join(threads[number[0]], NULL);
    if (strcmp(word, "finalize") == 0) MPI_Finalize();
    if (strncmp(word, "astray-", 7) == 0) go_astray(word + 7, number);
    if (strstr(" dup idup split cart inter merge create group ", word) != NULL) make(word, number);
}

static void* play(void* lane) {
    for (int i = 0; i < number_of_steps; ++i) {
        if (steps[i].lane != (int)(intptr_t)lane) continue;
        page->steps[steps[i].line].began = now();
        do_step(&steps[i]);
        page->steps[steps[i].line].ended = now();
    }
    return NULL;
}

/* The lines of this rank. */
static int read_steps(FILE* file) {
    char* line = NULL;
    size_t room = 0;
    steps = calloc(most_steps, sizeof *steps);
    for (int i = 0; i < most_steps && getline(&line, &room, file) > 0; ++i) {
        struct step* step = &steps[number_of_steps];
        int rank = -1, length = 0, more = 0;
        if (sscanf(line, "%d %d %15s%n", &rank, &step->lane, step->word, &length) != 3) return 0;
        if (rank != rank_here) continue;
        step->line = i;
        for (int n = 0; n < most_numbers && sscanf(line + length, "%d%n", &step->number[n], &more) == 1; ++n)
            length += more;
        ++number_of_steps;
    }
    free(line);
    return 1;
}

int main(int words, char** word) {
    const int file = words >= 4 ? open(word[2], O_RDWR) : -1;
    FILE* program = words >= 4 ? fopen(word[1], "r") : NULL;
    int provided = MPI_THREAD_MULTIPLE;
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED || program == NULL) return 2;
    spins = words == 5;
    if (strcmp(word[3], "threads") == 0)
        MPI_Init_thread(&words, &word, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&words, &word);
    if (provided != MPI_THREAD_MULTIPLE) return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* calls that do not match may fail */
    comms[0] = MPI_COMM_WORLD;
    if (!read_steps(program)) return 2;
    fclose(program);
    page->process[rank_here] = getpid();
    play(NULL);
    return 0;
}
