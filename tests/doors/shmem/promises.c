/* SPDX-License-Identifier: Apache-2.0
 * Right use: groups, several barriers at once, contexts, requests, and who is needed after a post. Four PEs.
 *
 * usage: promises [engine]      engine: also that Open MPI's own progress advances barriers */
#include "check.h"

#include <sched.h>

enum { pes = 4, episodes = 200 };

/* A word of this PE's that others write; read as OpenSHMEM wants it. */
static void await_word(long* word, long value) { shmem_long_wait_until(word, SHMEM_CMP_GE, value); }

/* Plain memory of its own that a PE looks at without calling OpenSHMEM. */
static void await_without_calls(volatile long* word, long value) {
    while (*word < value) sched_yield();
}

static long* zeros(size_t count) {
    long* words = shmem_align(64, count * sizeof *words);
    CHECK(words != NULL);
    memset(words, 0, count * sizeof *words);
    shmem_barrier_all();
    return words;
}

/* Every PE pays into everybody's table; who leaves finds all paid. */
static void tolls(tollbar_shmem_barrier* barrier, const int* members, int size, long* table) {
    const int me = shmem_my_pe();
    long episode;
    int i;
    for (episode = 1; episode <= episodes; ++episode) {
        for (i = 0; i < size; ++i) shmem_long_p(&table[me * 2 + episode % 2], episode, members[i]);
        meet(barrier);
        for (i = 0; i < size; ++i) CHECK(table[members[i] * 2 + episode % 2] == episode);
    }
}

/* Rows meet apart from each other, in one call to create; an order that is not ascending. */
static void groups(int me) {
    const int rows[2][2] = {{2, 0}, {1, 3}};
    const int* row = rows[me % 2];
    const tollbar_shmem_group listed = {row, 0, 0, 2};
    const tollbar_shmem_group strided = {NULL, 0, 3, 2}; /* 0 and 3 */
    const int ends[] = {0, 3};
    long* table = zeros(2 * pes);
    tollbar_shmem_barrier* barrier = made(&listed, "dissemination", TOLLBAR_SHMEM_PUTS);
    tolls(barrier, row, 2, table);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_barrier_all();
    memset(table, 0, 2 * pes * sizeof *table);
    barrier = made(&strided, NULL, TOLLBAR_SHMEM_STORES);
    if (me == 0 || me == 3) tolls(barrier, ends, 2, table);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(table);
}

/* Three at once, entered in one order and left in another one on every PE; two of them need calls. */
static void many_open(int me) {
    const char* plans[] = {"dissemination", "mcs", NULL};
    tollbar_shmem_barrier* barriers[3];
    int i, episode;
    for (i = 0; i < 3; ++i) barriers[i] = made(NULL, plans[i], TOLLBAR_SHMEM_PUTS);
    for (episode = 0; episode < episodes; ++episode) {
        for (i = 0; i < 3; ++i) CHECK_IS(tollbar_shmem_barrier_post(barriers[(i + me) % 3]), 0);
        for (i = 0; i < 3; ++i)
            CHECK_IS(tollbar_shmem_barrier_wait(barriers[(me + episode + (me % 2 ? i : 2 * i)) % 3]), 0);
    }
    for (i = 0; i < 3; ++i) CHECK(tollbar_shmem_barrier_episode(barriers[i]) == episodes);
    for (i = 0; i < 3; ++i) CHECK_IS(tollbar_shmem_barrier_destroy(barriers[i]), 0);
}

/* A posted PE that never calls again: the others get out. It watches its own memory only. */
static void gone_after_the_post(int me, const char* plan, int signals) {
    tollbar_shmem_barrier* barrier = made(NULL, plan, signals);
    long* out = zeros(1);
    CHECK(tollbar_shmem_barrier_progress(barrier) == TOLLBAR_SHMEM_PROGRESS_POST);
    CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
    if (me == 0) {
        await_without_calls(out, pes - 1);
    } else {
        CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
        shmem_long_atomic_inc(out, 0);
    }
    CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(out);
}

/* The same with a plan that needs calls: any call that makes Open MPI progress will do. */
static void advanced_by_the_engine(int me) {
    tollbar_shmem_options options;
    tollbar_shmem_barrier* barrier = NULL;
    long* out = zeros(1);
    int episode;
    memset(&options, 0, sizeof options);
    options.plan = "dissemination";
    options.engine = 1;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), 0);
    CHECK(tollbar_shmem_barrier_progress(barrier) == TOLLBAR_SHMEM_PROGRESS_CALLS);
    for (episode = 1; episode <= episodes; ++episode) {
        CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
        if (me == 0) {
            await_word(out, (long)(pes - 1) * episode); /* not a call of ours */
        } else {
            CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
            shmem_long_atomic_inc(out, 0);
        }
        CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
    }
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(out);
}

/* The puts of a context that is completed at the post are there; the memory order, with puts that are not waited
 * for. */
static void contexts(int me) {
    enum { words = 512 };
    tollbar_shmem_barrier* barrier = made(NULL, NULL, TOLLBAR_SHMEM_PUTS);
    long* theirs = zeros((size_t)2 * words);
    long mine[words];
    shmem_ctx_t context;
    long episode;
    int i;
    const int has_context = shmem_ctx_create(0, &context) == 0;
    for (episode = 1; episode <= episodes; ++episode) {
        long* half = theirs + (episode % 2) * words;
        for (i = 0; i < words; ++i) mine[i] = episode * words + i;
        if (has_context)
            shmem_ctx_long_put_nbi(context, half, mine, words, (me + 1) % pes);
        else
            shmem_long_put_nbi(half, mine, words, (me + 1) % pes);
        CHECK_IS(tollbar_shmem_barrier_post_contexts(barrier, &context, (size_t)has_context), 0);
        CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
        for (i = 0; i < words; ++i) CHECK(half[i] == episode * words + i);
    }
    CHECK_IS(tollbar_shmem_barrier_post_contexts(barrier, NULL, 1), EINVAL);
    if (has_context) shmem_ctx_destroy(context);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(theirs);
}

/* sync_only orders what PEs store into their own memory and others then read. */
static void sync_only(int me) {
    tollbar_shmem_options options;
    tollbar_shmem_barrier* barrier = NULL;
    long* mine = zeros(2);
    long episode;
    memset(&options, 0, sizeof options);
    options.sync_only = 1;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), 0);
    for (episode = 1; episode <= episodes; ++episode) {
        mine[episode % 2] = episode;
        meet(barrier);
        CHECK(shmem_long_g(&mine[episode % 2], (me + 1) % pes) == episode);
    }
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(mine);
}

/* The groups of create_in need nobody else: PE 3 is elsewhere meanwhile. */
static void in_own_memory(int me) {
    const tollbar_shmem_group lower = {NULL, 0, 1, 3};
    const int members[] = {0, 1, 2};
    long* table = zeros(2 * pes);
    long* memory = zeros(tollbar_shmem_barrier_bytes(&lower, NULL) / sizeof(long));
    long* over = zeros(1);
    tollbar_shmem_barrier* barrier = NULL;
    if (me < 3) {
        CHECK_IS(
            tollbar_shmem_barrier_create_in(memory, tollbar_shmem_barrier_bytes(&lower, NULL), &lower, NULL, &barrier),
            0);
        tolls(barrier, members, 3, table);
        CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
        shmem_long_atomic_inc(over, 3);
    } else {
        await_word(over, 3);
    }
    shmem_barrier_all();
    shmem_free(over);
    shmem_free(memory);
    shmem_free(table);
}

int main(int count, char** arguments) {
    int me;
    shmem_init();
    me = shmem_my_pe();
    CHECK(shmem_n_pes() == pes);
    groups(me);
    many_open(me);
    gone_after_the_post(me, NULL, TOLLBAR_SHMEM_PUTS);
    gone_after_the_post(me, "counter", TOLLBAR_SHMEM_PUTS);
    gone_after_the_post(me, "dissemination:3", TOLLBAR_SHMEM_STORES);
    gone_after_the_post(me, "counter", TOLLBAR_SHMEM_STORES);
    contexts(me);
    sync_only(me);
    in_own_memory(me);
    if (count > 1 && strcmp(arguments[1], "engine") == 0) advanced_by_the_engine(me);
    return conclude();
}
