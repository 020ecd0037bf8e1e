/* SPDX-License-Identifier: Apache-2.0 */
/* Plans from C: their words, proofs and prices, and every error value. */
#include "check.h"

#include <errno.h>
#include <math.h>

static tollbar_plan* plan;

static void the_word_of_a_rank_is_written_out(void) {
    char text[32];
    size_t length = 0;
    CHECK(tollbar_plan_create("dissemination", 4, &plan) == 0);
    CHECK(tollbar_plan_ranks(plan) == 4);
    CHECK(tollbar_plan_program(plan, 0, text, sizeof text, &length) == 0);
    CHECK(strcmp(text, "!1 ?3 !2 ?2") == 0 && length == 11);
    CHECK(tollbar_plan_program(plan, 3, text, 12, NULL) == 0); /* just enough */

    CHECK_FAILS(tollbar_plan_program(plan, 0, text, 11, &length), ENOSPC, "needs 12 characters, there is room for 11");
    CHECK(strcmp(text, "!1 ?3 !2 ?") == 0 && length == 11);
    length = 0;
    CHECK_FAILS(tollbar_plan_program(plan, 0, NULL, 0, &length), ENOSPC, "needs 12");
    CHECK(length == 11);
    CHECK_FAILS(tollbar_plan_program(plan, 4, text, sizeof text, &length), EINVAL, "4");
    CHECK_FAILS(tollbar_plan_program(plan, 0, NULL, 1, &length), EINVAL, "text is NULL");
    CHECK_FAILS(tollbar_plan_program(NULL, 0, text, sizeof text, &length), EINVAL, "plan is NULL");
    tollbar_plan_destroy(plan);
}

static void a_role_has_a_word_too(void) {
    char text[32];
    CHECK(tollbar_plan_create("turnstile", 3, &plan) == 0);
    CHECK(tollbar_plan_ranks(plan) == 3 && tollbar_plan_roles(plan) == 1);
    CHECK(tollbar_plan_program(plan, 2, text, sizeof text, NULL) == 0 && strcmp(text, "!a ?a") == 0);
    CHECK(tollbar_plan_program(plan, TOLLBAR_ROLE(0), text, sizeof text, NULL) == 0);
    CHECK(strcmp(text, "?0 ?1 ?2 !0 !1 !2") == 0);
    CHECK_FAILS(tollbar_plan_program(plan, TOLLBAR_ROLE(0), text, 5, NULL), ENOSPC, "role a needs 18");
    CHECK_FAILS(tollbar_plan_program(plan, TOLLBAR_ROLE(1), text, sizeof text, NULL), EINVAL, "role b");
    tollbar_plan_destroy(plan);
}

static void a_proof_says_which_rank_can_leave_too_early(void) {
    char text[128];
    int holds = -1;
    CHECK(tollbar_plan_create("mcs", 100, &plan) == 0);
    CHECK(tollbar_plan_verify(plan, &holds, text, sizeof text) == 0 && holds == 1);
    CHECK(tollbar_plan_verify(plan, &holds, NULL, 0) == 0 && holds == 1);
    tollbar_plan_destroy(plan);

    CHECK(tollbar_plan_parse("0: !1 ?1\n1: !0 ?0 !2\n2: ?1\n", &plan) == 0);
    CHECK(tollbar_plan_ranks(plan) == 3);
    CHECK(tollbar_plan_verify(plan, &holds, text, sizeof text) == 0 && holds == 0);
    CHECK(strcmp(text, "rank 0 can leave although rank 2 has not entered") == 0);
    CHECK(tollbar_plan_verify(plan, &holds, text, 7) == 0 && strcmp(text, "rank 0") == 0);
    CHECK_FAILS(tollbar_plan_verify(plan, NULL, text, sizeof text), EINVAL, "holds");
    CHECK_FAILS(tollbar_plan_verify(plan, &holds, NULL, 1), EINVAL, "text");
    CHECK_FAILS(tollbar_plan_verify(NULL, &holds, text, sizeof text), EINVAL, "plan is NULL");
    tollbar_plan_destroy(plan);
}

static void a_price_is_in_microseconds(void) {
    const tollbar_logp logp = {.L = 5, .o = 1, .g = 1};
    const tollbar_late late = {.rank = 1, .by_us = 100};
    tollbar_price price = {0};
    CHECK(tollbar_plan_create("dissemination", 2, &plan) == 0);
    CHECK(tollbar_plan_price(plan, logp, TOLLBAR_RECEIVE_AT_AWAIT, NULL, 0, &price) == 0);
    CHECK(price.messages == 2);
    CHECK(fabs(price.last_us - 7) < 1e-9 && fabs(price.first_us - 7) < 1e-9 && fabs(price.mean_us - 7) < 1e-9);
    CHECK(tollbar_plan_price(plan, logp, TOLLBAR_RECEIVE_AT_AWAIT, &late, 1, &price) == 0);
    CHECK(fabs(price.last_us - 107) < 1e-9);
    CHECK(tollbar_plan_price(plan, logp, TOLLBAR_RECEIVE_ON_ARRIVAL, &late, 1, &price) == 0);
    CHECK(fabs(price.last_us - 108) < 1e-9); /* the late rank first takes in what has come, then sends */

    const tollbar_logp negative = {.L = -1, .o = 1, .g = 1};
    const tollbar_late nobody = {.rank = 2, .by_us = 100};
    CHECK_FAILS(tollbar_plan_price(plan, negative, TOLLBAR_RECEIVE_AT_AWAIT, NULL, 0, &price), EINVAL, "-1");
    CHECK_FAILS(tollbar_plan_price(plan, logp, TOLLBAR_RECEIVE_AT_AWAIT, &nobody, 1, &price), EINVAL, "2");
    CHECK_FAILS(tollbar_plan_price(plan, logp, 3, NULL, 0, &price), EINVAL, "_ON_ARRIVAL, not 3");
    CHECK_FAILS(tollbar_plan_price(plan, logp, TOLLBAR_RECEIVE_AT_AWAIT, NULL, 1, &price), EINVAL, "late is NULL");
    CHECK_FAILS(tollbar_plan_price(plan, logp, TOLLBAR_RECEIVE_AT_AWAIT, NULL, 0, NULL), EINVAL, "price");
    CHECK_FAILS(tollbar_plan_price(NULL, logp, TOLLBAR_RECEIVE_AT_AWAIT, NULL, 0, &price), EINVAL, "plan is NULL");
    tollbar_plan_destroy(plan);
}

static void wrong_spellings_are_named(void) {
    tollbar_plan* untouched = NULL;
    CHECK_FAILS(tollbar_plan_create("fastest", 4, &untouched), EINVAL, "there is no algorithm 'fastest'");
    CHECK_FAILS(tollbar_plan_create("mcs:0,2", 4, &untouched), EINVAL, "mcs:0,2");
    CHECK_FAILS(tollbar_plan_create("mcs", 0, &untouched), EINVAL, "0");
    CHECK_FAILS(tollbar_plan_create(NULL, 4, &untouched), EINVAL, "spelling is NULL");
    CHECK_FAILS(tollbar_plan_create("mcs", 4, NULL), EINVAL, "plan is NULL");
    CHECK_FAILS(tollbar_plan_parse("0: !1 what\n1: ?0\n", &untouched), EINVAL, "what");
    CHECK_FAILS(tollbar_plan_parse(NULL, &untouched), EINVAL, "words is NULL");
    CHECK_FAILS(tollbar_plan_parse("0:", NULL), EINVAL, "plan is NULL");
    CHECK(untouched == NULL);
    CHECK(tollbar_plan_ranks(NULL) == 0);
    tollbar_plan_destroy(NULL);
}

int main(void) {
    the_word_of_a_rank_is_written_out();
    a_role_has_a_word_too();
    a_proof_says_which_rank_can_leave_too_early();
    a_price_is_in_microseconds();
    wrong_spellings_are_named();
    return verdict("plans from C");
}
