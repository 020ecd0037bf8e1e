/* SPDX-License-Identifier: Apache-2.0
 * Ranks that srun has started ask the keeper of their `tollbar run`, or of that of rank 0 where each has its own. By
 * any other launcher every rank publishes its name (MPI_Publish_name: the launcher keeps it), rank 0 looks for all of
 * them and publishes what it found, which all others look for.
 *
 * Nobody waits for ever for a rank that may not be here. Rank 0 gives up the job when no further name came for a while.
 * Another rank that has seen nothing of rank 0 for as long objects before it gives up, and then looks for rank 0 once
 * more; rank 0 publishes its own name first and looks for objections last. So one of the two sees the other: either
 * rank 0 finds the objection, or the rank finds rank 0 and does what that says. */
#include "everybody.h"

#include "keeper.h"
#include "wanted.h"

#include "communicator/participant.h"
#include "base/environment.h"
#include "base/say.h"
#include "transports/mpi/family.h"
#include "transports/mpi/host_mpi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { patience_s = 5 }; /* ranks leave MPI_Init at about the same time */

static const char* const otherwise = "MPI's own barriers are used everywhere";

static const char* const decision = "decision";
static const char* const objection = "objection";

/* A spawned job whose launcher gives it no name has the same name as the one that spawned it. */
static int job_has_a_name(void) {
    char job[200];
    MPI_Comm parent = MPI_COMM_NULL;
    return tollbar_name_of_job(job, sizeof job) ||
           (PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent == MPI_COMM_NULL);
}

struct notice {
    char name[240];
};

static struct notice notice_of(const char* what) {
    struct notice notice;
    char job[200];
    tollbar_name_of_job(job, sizeof job);
    snprintf(notice.name, sizeof notice.name, "tollbar:%s:%s", job, what);
    return notice;
}

static struct notice name_of(int rank) {
    char number[16];
    snprintf(number, sizeof number, "%d", rank);
    return notice_of(number);
}

/* An MPI reports a name that it does not find as an error, which must not end the program. MPI_ERRORS_RETURN is not
 * enough: Intel MPI ends the program by the standard ABI even so. Hence a handler; with one, MPICH 5 returns
 * MPI_SUCCESS. */
static int refused;

static void note(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    refused = 1;
}

static int publish(struct notice notice, const char* text) {
    refused = 0;
    return PMPI_Publish_name(notice.name, MPI_INFO_NULL, text) == MPI_SUCCESS && !refused;
}

static void take_back(struct notice notice, const char* text) { PMPI_Unpublish_name(notice.name, MPI_INFO_NULL, text); }

/* Returns whether it is published, and in `says` whether it says that. */
static int find(struct notice notice, const char* that, int* says) {
    char text[MPI_MAX_PORT_NAME] = "";
    refused = 0;
    const int found = PMPI_Lookup_name(notice.name, MPI_INFO_NULL, text) == MPI_SUCCESS && !refused;
    *says = found && strcmp(text, that) == 0;
    return found;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Looks for it until patience ends. */
static int await(struct notice notice, const char* that, int* says) {
    const double end_s = now_s() + patience_s;
    for (int64_t since_ns = 0; now_s() < end_s; tollbar_mpi_pass_time(&since_ns))
        if (find(notice, that, says)) return 1;
    return find(notice, that, says);
}

static int tells; /* this rank says what the answer no means */

static void say_that_is_not_here(const char* who) {
    tells = 1;
    if (tollbar_verbosity() >= 1)
        tollbar_say("%s has no " TOLLBAR_LIBRARY "%s.so, another one, or a tool that takes other calls: %s", who,
                    tollbar_family, otherwise);
}

/* Rank 0. */
static int decide(int ranks, const char* mine) {
    char who[24] = "a rank";
    int says = 1, objects;
    for (int rank = 1; rank < ranks && says; ++rank) {
        await(name_of(rank), mine, &says);
        if (!says) snprintf(who, sizeof who, "rank %d", rank);
    }
    const int yes = says && !find(notice_of(objection), "", &objects);
    if (!yes) say_that_is_not_here(who);
    return publish(notice_of(decision), yes ? "yes" : "no") && yes;
}

/* The others. Rank 0 decides soon, once it is here. */
static int learn(void) {
    int yes = 0;
    if (!await(name_of(0), "", &yes)) {
        const int first = publish(notice_of(objection), "no");
        if (!find(name_of(0), "", &yes)) {
            if (first) say_that_is_not_here("rank 0");
            return 0;
        }
    }
    for (int64_t since_ns = 0; !find(notice_of(decision), "yes", &yes);) tollbar_mpi_pass_time(&since_ns);
    return yes;
}

static int all_have_it;
static int are_published;
static char mine[96]; /* what this rank says of itself: the same on all ranks that do the same with the same calls */

static void write_mine(void) {
    const int length = snprintf(mine, sizeof mine, "%s-%s:%c", tollbar_family, TOLLBAR_VERSION,
                                tollbar_is_accounted() ? 'a' : '-');
    for (int i = 0; tollbar_served_names[i] != NULL && length + i + 1 < (int)sizeof mine; ++i)
        mine[length + i] = tollbar_comes_here(tollbar_served_names[i]) ? '+' : '-';
}

/* Rank 0 says it where it is asked for, for it is so in every job of this launcher. */
static int are_not_counted(const char* why) {
    if (tells && tollbar_verbosity() >= 1)
        tollbar_say("%s, so it is not known whether every rank has " TOLLBAR_LIBRARY "%s.so: %s", why, tollbar_family,
                    otherwise);
    return 0;
}

/* MPICH 4 may not come back from MPI_Finalize where srun has started it: some ranks wait there for the launcher, and do
 * not answer the others, which UCX has disconnect from them. */
static int ends_under_srun(void) {
    const char* const key = tollbar_mpi_key();
    return strncmp(key, "openmpi-", 8) == 0 || (strncmp(key, "mpich-", 6) == 0 && atoi(key + 6) >= 5);
}

/* Slurm keeps no names, and Open MPI writes six lines into the program's output where it is asked for one. */
static int ask_keeper(const char* step, int rank, int ranks, int able) {
    enum { limit_ms = 60000 };
    tells = rank == 0;
    if (!ends_under_srun()) return are_not_counted("srun and this MPI leave ranks in MPI_Finalize");
    if (tollbar_keeper_of_run() == NULL)
        return are_not_counted("there is no `tollbar run` around this step, nor one of each rank");
    const struct tollbar_arrival arrival = {.keeper = tollbar_keeper_of_run(),
                                            .host = tollbar_host_of_srun(),
                                            .step = step,
                                            .rank = rank,
                                            .ranks = ranks,
                                            .library = able ? mine : "-",
                                            .limit_ms = limit_ms};
    const enum tollbar_kept kept = tollbar_ask_keeper(&arrival);
    if (kept == TOLLBAR_KEPT_LOST) {
        tollbar_say(
            "rank %d cannot reach the `tollbar run` that has started it, and does not know what the other ranks "
            "do: it ends the job",
            rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
        _exit(1);
    }
    if (kept == TOLLBAR_KEPT_NO && tells) say_that_is_not_here("some rank");
    return kept == TOLLBAR_KEPT_YES;
}

static int ask(int able) {
    int rank = 0, ranks = 1;
    char step[200];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) return 0;
    write_mine();
    if (tollbar_name_of_step(rank, ranks, step, sizeof step)) return ask_keeper(step, rank, ranks, able);
    if (!able || !job_has_a_name()) return 0;
    if (!publish(name_of(rank), mine)) {
        tells = rank == 0;
        if (tells)
            tollbar_say(
                "the launcher keeps no names (MPI_Publish_name), so it is not known whether every rank "
                "has " TOLLBAR_LIBRARY "%s.so: %s",
                tollbar_family, otherwise);
        return 0;
    }
    are_published = 1;
    return rank == 0 ? decide(ranks, mine) : learn();
}

/* Not that of MPI_COMM_SELF: where it has none, as at first, MPICH 5 asks MPI_COMM_WORLD's, and none cannot be set. */
static struct { MPI_Errhandler ours, of_world; } handlers;

static int note_errors(void) {
    if (PMPI_Comm_create_errhandler(note, &handlers.ours) != MPI_SUCCESS) return 0;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handlers.of_world);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers.ours);
    return 1;
}

static void leave_errors(void) {
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers.of_world);
    PMPI_Errhandler_free(&handlers.of_world);
    PMPI_Errhandler_free(&handlers.ours);
}

int tollbar_everybody_is_here(int able) {
    static int asked;
    if (asked || !note_errors()) return all_have_it;
    asked = 1;
    all_have_it = ask(able);
    leave_errors();
    return all_have_it;
}

int tollbar_tells_of_no(void) { return tells; }

void tollbar_everybody_knows(void) {
    static int known;
    int rank = 0;
    if (!all_have_it || !are_published || known || !note_errors()) return;
    known = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    take_back(name_of(rank), mine);
    if (rank == 0) take_back(notice_of(decision), "yes");
    leave_errors();
}

int tollbar_comes_here(const char* name) {
    Dl_info first, own;
    void* const found = dlsym(RTLD_DEFAULT, name);
    return found != NULL && dladdr(found, &first) != 0 && dladdr(&otherwise, &own) != 0 &&
           first.dli_fbase == own.dli_fbase;
}

int tollbar_all_are_of_world(MPI_Comm comm) {
    enum { at_once = 128 };
    int ranks = 0, all = 1, here[at_once], there[at_once];
    MPI_Group group, world;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int first = 0; all && first < ranks; first += at_once) {
        const int count = ranks - first < at_once ? ranks - first : at_once;
        for (int i = 0; i < count; ++i) here[i] = first + i;
        PMPI_Group_translate_ranks(group, count, here, world, there);
        for (int i = 0; i < count; ++i) all = all && there[i] != MPI_UNDEFINED;
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return all;
}
