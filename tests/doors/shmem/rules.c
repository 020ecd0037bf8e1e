/* SPDX-License-Identifier: Apache-2.0
 * Wrong use: each rule's code comes back, and the line names the PE. Three PEs. */
#include "check.h"

#include <stdint.h>

static const int64_t ms = 1000000;

/* Symmetric memory of zeros for create_in. */
static void* fresh(size_t bytes) {
    void* memory = shmem_align(64, bytes);
    CHECK(memory != NULL);
    memset(memory, 0, bytes);
    shmem_barrier_all();
    return memory;
}

static tollbar_shmem_barrier* made_in(void* memory, const tollbar_shmem_group* group, const char* plan, unsigned tag) {
    tollbar_shmem_barrier* barrier = NULL;
    tollbar_shmem_options options;
    memset(&options, 0, sizeof options);
    options.plan = plan;
    options.tag = tag;
    CHECK_IS(tollbar_shmem_barrier_create_in(memory, 4096, group, &options, &barrier), 0);
    return barrier;
}

static void the_order_of_calls(int me) {
    tollbar_shmem_barrier* barrier = made(NULL, NULL, TOLLBAR_SHMEM_PUTS);
    char name[32];
    snprintf(name, sizeof name, "PE %d", me);

    CHECK_IS(tollbar_shmem_barrier_test(barrier), EINVAL); /* before the first post */
    CHECK_SAID(name);
    CHECK_IS(tollbar_shmem_barrier_wait(barrier), EINVAL);
    CHECK_SAID(name);
    CHECK_IS(tollbar_shmem_barrier_wait_for(barrier, 0), EINVAL);

    CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
    CHECK_IS(tollbar_shmem_barrier_post(barrier), EBUSY); /* twice */
    CHECK_SAID(name);
    CHECK_IS(tollbar_shmem_barrier_post_and_wait(barrier), EBUSY); /* a blocking call between post and wait */
    CHECK_SAID(name);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), EBUSY); /* while open */
    CHECK_SAID(name);
    while (tollbar_shmem_barrier_test(barrier) == EAGAIN) {
    }
    CHECK_IS(tollbar_shmem_barrier_test(barrier), TOLLBAR_SHMEM_IDLE); /* after the end */
    CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
    CHECK(tollbar_shmem_barrier_episode(barrier) == 1);

    meet(barrier);
    CHECK(tollbar_shmem_barrier_episode(barrier) == 2);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
}

/* The PE that lets the others wait says so by a flag, not by time. */
static void a_missing_pe(int me, const char* plan, tollbar_shmem_signals signals) {
    tollbar_shmem_barrier* barrier = made(NULL, plan, signals);
    long* named = fresh(sizeof *named);
    tollbar_missing missing[3] = {{.rank = 99}, {.rank = 99}, {.rank = 99}};
    size_t count = 99;

    if (me == 2) {
        shmem_long_wait_until(named, SHMEM_CMP_EQ, 2);
        CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
    } else {
        CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
        do { /* until the other one has posted */
            CHECK_IS(tollbar_shmem_barrier_wait_for(barrier, 5 * ms), ETIMEDOUT);
            CHECK_IS(tollbar_shmem_barrier_missing(barrier, missing, 3, &count), 0);
        } while (count > 1);
        CHECK(count == 1 && missing[0].rank == 2 && missing[0].state == TOLLBAR_RUNNING);
        CHECK(missing[0].process > 0 && missing[0].behind == 1 && missing[0].waited_ns >= 5 * ms);
        CHECK_IS(tollbar_shmem_barrier_wait_for(barrier, 0), ETIMEDOUT);
        CHECK_SAID("PE 2 (process ");
        CHECK_SAID("has not arrived");
        count = 99;
        CHECK_IS(tollbar_shmem_barrier_missing(barrier, NULL, 0, &count), 0); /* cut to nothing */
        CHECK(count == 1);
        shmem_long_atomic_inc(named, 2);
    }
    CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0); /* goes on */
    CHECK_IS(tollbar_shmem_barrier_missing(barrier, missing, 3, &count), 0);
    CHECK(count == 0);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(named);
}

/* All PEs find a difference of PE 1 when they make the barrier. */
static void found_when_made(int me) {
    const int pair[] = {0, 1};
    const tollbar_shmem_group smaller = {pair, 0, 0, 2};
    tollbar_shmem_barrier* barrier = NULL;
    tollbar_shmem_options options;
    memset(&options, 0, sizeof options);

    CHECK_IS(tollbar_shmem_barrier_create(me == 1 ? &smaller : NULL, NULL, &barrier), EPROTO);
    CHECK_SAID("PE 0 names a group of 3 PEs");
    options.plan = me == 1 ? "mcs" : "central";
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EPROTO);
    CHECK_SAID("PE 0 and PE 1 make this barrier with different plans (central, mcs)");
    options.plan = NULL;
    options.signals = me == 1 ? TOLLBAR_SHMEM_STORES : TOLLBAR_SHMEM_PUTS;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EPROTO);
    CHECK_SAID("PE 1");
    options.signals = TOLLBAR_SHMEM_AUTO;
    options.tag = me == 1;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EPROTO);
    CHECK_SAID("different tags");
    options.tag = 0;
    options.plan = me == 1 ? "no such plan" : NULL;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EINVAL); /* one's fault is everyone's result */
    CHECK_SAID(me == 1 ? "no such plan" : "PE 1: ");
    CHECK(barrier == NULL);
}

/* In memory of the caller's what differs is found when they meet. */
static void found_when_met(int me) {
    const int pair[] = {0, 1};
    const tollbar_shmem_group smaller = {pair, 0, 0, 2};
    void* memory = fresh(3 * 4096);
    tollbar_shmem_barrier *groups, *plans, *tags;

    groups = made_in(memory, me == 1 ? &smaller : NULL, "dissemination", 0);
    plans = made_in((char*)memory + 4096, NULL, me == 1 ? "counter" : "dissemination", 0);
    tags = made_in((char*)memory + 8192, NULL, "mcs", me == 1);
    CHECK_IS(tollbar_shmem_barrier_post_and_wait(groups), EPROTO);
    CHECK_SAID(me == 1 ? "PE 0 made this barrier with another group or tag than PE 1"
                       : "PE 1 made this barrier with another group or tag");
    CHECK_IS(tollbar_shmem_barrier_post_and_wait(plans), EPROTO);
    CHECK_SAID(me == 1 ? "made this barrier with another plan" : "PE 1 made this barrier with another plan");
    CHECK_IS(tollbar_shmem_barrier_test(plans), EPROTO); /* and stays so */
    CHECK_IS(tollbar_shmem_barrier_post(plans), EPROTO);
    CHECK_IS(tollbar_shmem_barrier_post_and_wait(tags), EPROTO);
    CHECK_SAID(me == 1 ? "another group or tag" : "PE 1 made this barrier with another group or tag");
    shmem_barrier_all();
    CHECK_IS(tollbar_shmem_barrier_destroy(groups), 0);
    CHECK_IS(tollbar_shmem_barrier_destroy(plans), 0);
    CHECK_IS(tollbar_shmem_barrier_destroy(tags), 0);
    shmem_free(memory);
}

/* Somebody writes into the slots of PE 0 what no PE can have reached. */
static void an_impossible_episode(int me) {
    void* memory = fresh(4096);
    tollbar_shmem_barrier* barrier = made_in(memory, NULL, "dissemination", 0);
    uint64_t* words = memory;
    size_t i;
    int spoilt = 0;

    meet(barrier);
    meet(barrier);
    shmem_barrier_all();
    for (i = 24; me == 0 && i < 512; ++i) /* the slots follow three lines of 64 bytes */
        if (words[i] != 0) words[i] += 4, ++spoilt;
    CHECK(me != 0 || spoilt == 4);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_IS(tollbar_shmem_barrier_post_and_wait(barrier), EBADMSG);
        CHECK_SAID("while PE 0 is in 3");
        CHECK_SAID("PE ");
        CHECK_SAID("claims an episode that it cannot have reached (");
    }
    shmem_barrier_all();
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(memory);
}

static void a_counter_counted_by_somebody_else(int me) {
    void* memory = fresh(4096);
    tollbar_shmem_barrier* barrier = made_in(memory, NULL, "counter", 0);

    meet(barrier);
    shmem_barrier_all();
    if (me == 0) ((uint64_t*)memory)[8] += 7;
    shmem_barrier_all();
    CHECK_IS(tollbar_shmem_barrier_post_and_wait(barrier), EBADMSG);
    shmem_barrier_all();
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    shmem_free(memory);
}

static void a_pe_outside_the_group(int me) {
    const tollbar_shmem_group lower = {NULL, 0, 1, 2};
    const int all_but_one[] = {2, 0};
    const tollbar_shmem_group listed = {all_but_one, 0, 0, 2};
    void* memory = fresh(4096);
    tollbar_shmem_barrier* none = NULL;
    tollbar_shmem_barrier* barrier = made(&lower, NULL, TOLLBAR_SHMEM_PUTS);
    if (me == 2) {
        CHECK_IS(tollbar_shmem_barrier_post(barrier), ESRCH);
        CHECK_SAID("PE 2 is not in the group");
        CHECK_IS(tollbar_shmem_barrier_test(barrier), ESRCH);
        CHECK_IS(tollbar_shmem_barrier_wait(barrier), ESRCH);
        CHECK_IS(tollbar_shmem_barrier_missing(barrier, NULL, 0, NULL), ESRCH);
    } else {
        meet(barrier);
        meet(barrier);
    }
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    if (me == 1) {
        CHECK_IS(tollbar_shmem_barrier_create_in(memory, 4096, &listed, NULL, &none), ESRCH);
        CHECK_SAID("PE 1 is not in the group");
    }
    shmem_free(memory);
}

static void wrong_arguments(void) {
    double on_the_stack[64];
    void* allocated = malloc(4096);
    void* memory = fresh(4096);
    int twice[] = {0, 1, 1};
    const tollbar_shmem_group no_such = {NULL, 0, 3, 2}, too_many = {NULL, 0, 1, 4}, none = {NULL, 0, 1, -1},
                              standing = {NULL, 0, 0, 2}, doubled = {twice, 0, 0, 3};
    const tollbar_shmem_group* wrong[] = {&no_such, &too_many, &none, &standing, &doubled};
    const int errors[] = {ESRCH, ESRCH, EINVAL, EINVAL, EINVAL};
    tollbar_shmem_barrier* barrier = NULL;
    tollbar_shmem_options options;
    size_t i;
    memset(&options, 0, sizeof options);

    for (i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        CHECK_IS(tollbar_shmem_barrier_create(wrong[i], NULL, &barrier), errors[i]);
        CHECK_IS(tollbar_shmem_barrier_create_in(memory, 4096, wrong[i], NULL, &barrier), errors[i]);
        CHECK(tollbar_shmem_barrier_bytes(wrong[i], NULL) == 0);
    }
    CHECK_IS(tollbar_shmem_barrier_create_in(on_the_stack, sizeof on_the_stack, NULL, NULL, &barrier), EFAULT);
    CHECK_SAID("not symmetric: PE 0 cannot be reached there");
    CHECK_IS(tollbar_shmem_barrier_create_in(allocated, 4096, NULL, NULL, &barrier), EFAULT);
    CHECK_IS(tollbar_shmem_barrier_create_in((char*)memory + 4, 4092, NULL, NULL, &barrier), EINVAL);
    CHECK_IS(tollbar_shmem_barrier_create_in(memory, 128, NULL, NULL, &barrier), ENOMEM);
    CHECK_SAID("the barrier needs 320 bytes, there are 128");
    CHECK(tollbar_shmem_barrier_bytes(NULL, NULL) == 320);
    CHECK_IS(tollbar_shmem_barrier_create_in(NULL, 128, NULL, NULL, &barrier), EINVAL);
    CHECK_IS(tollbar_shmem_barrier_create(NULL, NULL, NULL), EINVAL);
    options.signals = (tollbar_shmem_signals)9;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EINVAL);
    CHECK_SAID("signals is TOLLBAR_SHMEM_AUTO, TOLLBAR_SHMEM_PUTS or TOLLBAR_SHMEM_STORES, not 9");
    options.signals = TOLLBAR_SHMEM_PUTS;
    options.wait = (tollbar_wait)4;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EINVAL);
    CHECK_SAID("TOLLBAR_WAIT_AUTO, _SPIN, _YIELD, _PARK, not 4");
    options.wait = TOLLBAR_WAIT_AUTO;
    options.reserved[0] = 1;
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EINVAL);
    CHECK_SAID("this version of tollbar knows no such option");
    options.reserved[0] = 0;
    options.plan = "switch"; /* of the catalogue, but for other hardware */
    CHECK_IS(tollbar_shmem_barrier_create(NULL, &options, &barrier), EINVAL);
    CHECK_SAID("plan 'switch' is for a switch that counts");
    CHECK(barrier == NULL);
    CHECK_IS(tollbar_shmem_barrier_post(NULL), EINVAL);
    CHECK_IS(tollbar_shmem_barrier_test(NULL), EINVAL);
    CHECK_IS(tollbar_shmem_barrier_wait(NULL), EINVAL);
    CHECK_IS(tollbar_shmem_barrier_destroy(NULL), 0);
    CHECK(tollbar_shmem_barrier_plan(NULL) == NULL && tollbar_shmem_barrier_episode(NULL) == 0);
    shmem_barrier_all();
    free(allocated);
    shmem_free(memory);
}

/* More than the heap has is asked for by filling it first. */
static void a_heap_that_is_full(void) {
    void* pieces[64];
    size_t count = 0;
    size_t bytes;
    tollbar_shmem_barrier* barrier = NULL;

    for (bytes = (size_t)1 << 27; bytes >= 64 && count < 64; bytes /= 2) {
        void* piece;
        while (count < 64 && (piece = shmem_malloc(bytes)) != NULL) pieces[count++] = piece;
    }
    CHECK_IS(tollbar_shmem_barrier_create(NULL, NULL, &barrier), ENOMEM);
    CHECK_SAID("bytes left for a barrier: set SHMEM_SYMMETRIC_SIZE");
    while (count > 0) shmem_free(pieces[--count]);
    barrier = made(NULL, NULL, TOLLBAR_SHMEM_PUTS);
    meet(barrier);
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
}

int main(void) {
    int me;
    shmem_init();
    me = shmem_my_pe();
    the_order_of_calls(me);
    a_missing_pe(me, NULL, TOLLBAR_SHMEM_PUTS);
    a_missing_pe(me, "counter", TOLLBAR_SHMEM_PUTS);
    a_missing_pe(me, "dissemination", TOLLBAR_SHMEM_STORES);
    a_missing_pe(me, "mcs", TOLLBAR_SHMEM_PUTS);
    a_missing_pe(me, "counter", TOLLBAR_SHMEM_STORES);
    found_when_made(me);
    found_when_met(me);
    an_impossible_episode(me);
    a_counter_counted_by_somebody_else(me);
    a_pe_outside_the_group(me);
    wrong_arguments();
    a_heap_that_is_full();
    return conclude();
}
