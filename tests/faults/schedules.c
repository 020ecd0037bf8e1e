/* SPDX-License-Identifier: Apache-2.0
 * Random schedules of what a program does with barriers and communicators, many in one launch, each drawn from a seed.
 * Nobody leaves a barrier early, every call ends, and a line a schedule says what was done and what came of it: the
 * same with any barrier of MPI.
 *
 * usage: schedules PAGE FIRST COUNT [careful] [threads] [revoke] [kill] [hosts=N]; `careful` completes what is pending
 * on a communicator before it is freed, which some MPIs need */
#include "schedules.h"

#include <signal.h>

#ifdef OPEN_MPI
#    include <mpi-ext.h>
#    if OMPI_MAJOR_VERSION < 5
#        define MPI_Barrier_init MPIX_Barrier_init
#    endif
#endif

static const char* const plans[] = {"",        "turnstile",   "dissemination", "mcs",
                                    "central", "combining:2", "turnstile",     "turnstile/dissemination"};

/* The result of a schedule on a rank, in memory that all ranks share; two take turns. */
static char* text_of(int rank, int parity) {
    enum { boards_for_it = 2 };
    return (char*)&toll_page->board[most_boards + boards_for_it * (parity * most_ranks + rank)];
}

static int careful, revokes, kills;
static int key, copied, deleted, copied_so_far, deleted_so_far;

static int is_in(const struct communicator* one) { return one->toll.rank >= 0; }

static int at_copy(MPI_Comm comm, int of, void* extra, void* value, void* copy, int* copies) {
    (void)comm, (void)of, (void)extra;
    *(void**)copy = value;
    *copies = 1;
    ++copied_so_far;
    return MPI_SUCCESS;
}

static int at_deletion(MPI_Comm comm, int of, void* value, void* extra) {
    (void)comm, (void)of, (void)value, (void)extra;
    ++deleted_so_far;
    return MPI_SUCCESS;
}

static int free_place(void) {
    int at = 0;
    while (at < most_communicators && communicators[at].live) ++at;
    return at;
}

static int free_request(void) {
    int at = 0;
    while (at < most_requests && requests[at].live) ++at;
    return at;
}

/* A live one. */
static int any_communicator(void) {
    int at = any_of(most_communicators);
    while (!communicators[at].live) at = (at + 1) % most_communicators;
    return at;
}

static unsigned any_requests(int active) {
    unsigned chosen = 0;
    for (int i = 0; i < most_requests; ++i) {
        const struct request* one = &requests[i];
        const int may = one->live && one->active == active && (active || one->of >= 0);
        if (any_of(3) != 0 && may) chosen |= 1U << i;
    }
    return chosen;
}

static void founds(int at, MPI_Comm comm, int hangs) {
    struct communicator* one = &communicators[at];
    one->live = one->fresh = 1;
    one->hangs = hangs;
    one->toll = board_for(comm, one);
    if (is_in(one)) toll_expect(comm != MPI_COMM_NULL);
}

/* A first barrier runs the plan that is named when it comes. */
static void name_plan(const struct communicator* one) {
    const int plan = any_of(sizeof plans / sizeof *plans);
    if (one->fresh && is_in(one)) toll_plan(plans[plan]);
}

static void is_used(struct communicator* one) {
    name_plan(one);
    one->fresh = 0;
}

static void barrier(int at) {
    struct communicator* one = &communicators[at];
    const int late = any_of(2 * one->size);
    add_to(done, " B%d", at);
    is_used(one);
    if (!is_in(one)) return;
    pay(&one->toll, late);
    toll_expect(MPI_Barrier(one->toll.comm) == MPI_SUCCESS);
    toll_check(&one->toll);
}

static struct request* new_request(int of, int persists) {
    struct request* one = &requests[free_request()];
    *one = (struct request){
        .live = 1, .persists = persists, .of = of, .mine = is_in(&communicators[of]), .handle = MPI_REQUEST_NULL};
    return one;
}

static void ibarrier(int at) {
    struct communicator* communicator = &communicators[at];
    struct request* one = new_request(at, 0);
    add_to(done, " I%d", at);
    one->active = 1;
    if (!one->mine) return;
    pay(&communicator->toll, -1);
    one->toll = communicator->toll;
    toll_expect(MPI_Ibarrier(communicator->toll.comm, &one->handle) == MPI_SUCCESS);
}

static void persist(int at) {
    struct communicator* communicator = &communicators[at];
    struct request* one = new_request(at, 1);
    add_to(done, " P%d", at);
    name_plan(communicator); /* not its first barrier: through a preload a handle is the MPI's */
    one->toll = board_for(communicator->toll.comm, communicator);
    if (one->mine) toll_expect(MPI_Barrier_init(communicator->toll.comm, MPI_INFO_NULL, &one->handle) == MPI_SUCCESS);
}

/* Each rank in an order of its own. */
static void start(unsigned chosen) {
    struct request* some[most_requests];
    MPI_Request handles[most_requests];
    int count = 0;
    add_to(done, " S%x", chosen);
    for (int i = 0; i < most_requests; ++i)
        if (chosen >> i & 1) {
            requests[i].active = 1;
            requests[i].over = 0;
        }
    count = under_way(chosen, some);
    const int at_once = own_of(2);
    for (int i = 0; i < count; ++i) {
        pay(&some[i]->toll, -1);
        handles[i] = some[i]->handle;
        if (!at_once) toll_expect(MPI_Start(&some[i]->handle) == MPI_SUCCESS);
    }
    if (at_once && count != 0) toll_expect(MPI_Startall(count, handles) == MPI_SUCCESS);
}

static void finish(unsigned chosen) {
    add_to(done, " W%x", chosen & 0xffU);
    complete(chosen);
    for (int i = 0; i < most_requests; ++i) {
        if (!(chosen >> i & 1)) continue;
        requests[i].active = 0;
        requests[i].live &= requests[i].persists;
    }
}

/* Their handles on this rank, where nothing is under way by them then. */
static void release(unsigned chosen) {
    complete(chosen);
    for (int i = 0; i < most_requests; ++i) {
        struct request* one = &requests[i];
        if (!(chosen >> i & 1) || !one->live || !one->persists || !one->mine) continue;
        toll_expect(MPI_Request_free(&one->handle) == MPI_SUCCESS);
        one->mine = 0;
    }
}

static void free_requests(unsigned chosen) {
    finish(chosen);
    add_to(done, " F");
    for (int i = 0; i < most_requests; ++i) {
        if (!(chosen >> i & 1)) continue;
        release(1U << i);
        requests[i].live = 0;
    }
}

static unsigned requests_of(int at) {
    unsigned chosen = 0;
    for (int i = 0; i < most_requests; ++i)
        if (requests[i].live && requests[i].of == at) chosen |= 1U << i;
    return chosen;
}

static void duplicate(int from, int later) {
    const int at = free_place(), between = any_of(2);
    const struct communicator* old = &communicators[from];
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request;
    add_to(done, later ? " i%d>%d" : " d%d>%d", from, at);
    if (is_in(old)) {
        toll_expect((later ? MPI_Comm_idup(old->toll.comm, &comm, &request) : MPI_Comm_dup(old->toll.comm, &comm)) ==
                    MPI_SUCCESS);
        copied += old->hangs;
    }
    /* A first barrier beside it may hang in Open MPI, and does not only where no process can fail. */
    if (later && between && !(old->fresh && (revokes || kills))) barrier(from);
    if (later && is_in(old)) toll_expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    communicators[at].size = old->size;
    memcpy(communicators[at].order, old->order, sizeof old->order);
    founds(at, comm, old->hangs);
}

/* In two, each in an order by chance; some may be in neither. */
static void split(int from) {
    const struct communicator* old = &communicators[from];
    int colour[most_ranks], keys[most_ranks], mine = 2, my_key = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    for (int i = 0; i < old->size; ++i) {
        colour[i] = any_of(5) / 2;
        keys[i] = any_of(4);
        if (old->order[i] == toll_rank) mine = colour[i], my_key = keys[i];
    }
    if (is_in(old))
        toll_expect(MPI_Comm_split(old->toll.comm, mine == 2 ? MPI_UNDEFINED : mine, my_key, &comm) == MPI_SUCCESS);
    for (int which = 0; which < 2; ++which) {
        const int at = free_place();
        struct communicator* one = &communicators[at];
        one->size = 0;
        for (int now = 0; now < 4; ++now)
            for (int i = 0; i < old->size; ++i)
                if (colour[i] == which && keys[i] == now) one->order[one->size++] = old->order[i];
        if (one->size == 0) continue;
        add_to(done, " s%d>%d/%d", from, at, one->size);
        founds(at, mine == which ? comm : MPI_COMM_NULL, 0);
    }
}

static void let_go(int at) {
    struct communicator* one = &communicators[at];
    add_to(done, " f%d", at);
    const unsigned orphans = requests_of(at);
    if (careful) release(orphans);
    for (int i = 0; i < most_requests; ++i)
        if (orphans >> i & 1) requests[i].of = -1;
    one->live = 0;
    if (!is_in(one)) return;
    deleted += one->hangs;
    toll_expect(MPI_Comm_free(&one->toll.comm) == MPI_SUCCESS);
}

/* Looks at one of those that this rank has under way. */
static void look(void) {
    struct request* some[most_requests];
    const int count = under_way(~0U, some);
    if (count != 0) ask(own_of(2) ? by_test : by_look, some, 1);
}

/* One thing, if there is room for it. */
static void act(void) {
    int room = 0;
    for (int i = 0; i < most_communicators; ++i) room += !communicators[i].live;
    const int what = any_of(30), at = any_communicator(), has_room = free_request() < most_requests;
    look();
    if (what < 8) {
        barrier(at);
    } else if (what < 13) {
        if (has_room) ibarrier(at);
    } else if (what < 15) {
        if (has_room) persist(at);
    } else if (what < 20) {
        const unsigned chosen = any_requests(0);
        if (chosen != 0)
            start(chosen);
        else if (has_room)
            persist(at);
    } else if (what < 23) {
        finish(any_requests(1));
    } else if (what < 24) {
        free_requests(any_requests(any_of(2)));
    } else if (what < 26) {
        if (room >= 1) duplicate(at, any_of(2));
    } else if (what < 28) {
        if (room >= 2) split(at);
    } else if (at != 0) {
        let_go(at);
    }
}

#include "schedules_faults.h"

static void end_all(void) {
    finish(~0U);
    free_requests(~0U);
    for (int at = most_communicators - 1; at >= 0; --at)
        if (communicators[at].live) let_go(at);
    /* Open MPI deletes those of a revoked communicator later. */
    if (!revokes && !kills) toll_expect(copied_so_far == copied && deleted_so_far == deleted);
}

/* The communicator that a schedule begins with: some of all, or all. */
static void begin(int all_of_them) {
    const struct communicator* all = &communicators[everybody];
    struct communicator* one = &communicators[0];
    int place = -1, order[most_ranks];
    MPI_Comm comm;
    one->size = all_of_them ? all->size : 2 + any_of(all->size - 1);
    memcpy(order, all->order, sizeof order);
    for (int i = 0; i < one->size; ++i) {
        const int from = i + any_of(all->size - i);
        one->order[i] = order[from];
        order[from] = order[i];
        if (one->order[i] == toll_rank) place = i;
    }
    MPI_Comm_split(all->toll.comm, place < 0 ? MPI_UNDEFINED : 0, place, &comm);
    founds(0, comm, 1);
    if (place >= 0) MPI_Comm_set_attr(comm, key, NULL);
}

/* Everybody has come to its end, and reads nothing of it after the next one's. */
static void report(uint64_t seed, int parity) {
    const struct communicator* all = &communicators[everybody];
    if (toll_rank != 0) return;
    printf("seed %llu:%s", (unsigned long long)seed, done);
    for (int i = 0; i < all->size; ++i)
        if (*text_of(all->order[i], parity) != '\0')
            printf("; rank %d:%s", all->order[i], text_of(all->order[i], parity));
    puts("");
    fflush(stdout);
}

static void run(uint64_t seed) {
    const int parity = (int)(seed % 2);
    shared = seed;
    own = ~seed * (uint64_t)(toll_rank + 2);
    const int kill = kills && communicators[everybody].size > 3 && any_of(8) == 0;
    const int revoke = revokes && !kill && any_of(3) == 0;
    const int actions = 8 + any_of(16), when = kill || revoke ? any_of(actions) : actions;
    came = text_of(toll_rank, parity);
    *came = *done = '\0';
    begin(kill);
    add_to(done, " %d ranks:", communicators[0].size);
    int dead = 0;
    for (int i = 0; i < actions && !dead; ++i) {
        act();
        if (i == when) dead = fault(kill);
    }
    if (!dead) end_all();
    barrier(everybody);
    report(seed, parity);
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    for (int i = 4; i < argc; ++i) {
        careful |= strcmp(argv[i], "careful") == 0;
        revokes |= strcmp(argv[i], "revoke") == 0;
        kills |= strcmp(argv[i], "kill") == 0;
        if (strcmp(argv[i], "threads") == 0) level = MPI_THREAD_MULTIPLE;
        if (strncmp(argv[i], "hosts=", 6) == 0) apart = atoi(argv[i] + 6);
    }
    MPI_Init_thread(&argc, &argv, level, &level);
    toll_start(argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(at_copy, at_deletion, &key, NULL);
    struct communicator* all = &communicators[everybody];
    for (all->size = 0; all->size < toll_world; ++all->size) all->order[all->size] = all->size;
    founds(everybody, MPI_COMM_WORLD, 0);
    const uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed < first + count; ++seed) run(seed);
    if (toll_rank == 0) printf("passed: %ld checks\n", toll_checks);
    fflush(stdout);
    if (kills) _exit(0); /* where a rank has died, Open MPI's MPI_Finalize does not always come back */
    MPI_Finalize();
    return 0;
}
