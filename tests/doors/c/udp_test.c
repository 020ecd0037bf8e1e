/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers over UDP from C: episodes on the loopback, who is missing, and every error value. */
#include "check.h"

#include <tollbar/udp.h>

#include <errno.h>
#include <pthread.h>

enum { ranks = 3, episodes = 50 };

static tollbar_udp* all[ranks];

static void* run(void* argument) {
    tollbar_udp* self = *(tollbar_udp**)argument;
    for (int episode = 0; episode < episodes; ++episode) {
        CHECK(tollbar_udp_arrive(self) == 0);
        if (episode % 2 == 0) CHECK(tollbar_udp_wait(self) == 0);
        while (episode % 2 == 1 && tollbar_udp_test(self) == EAGAIN) {
        }
    }
    tollbar_udp_leave(self);
    return NULL;
}

static void join_all(const char* plan) {
    const tollbar_udp_options options = {.key = 42, .plan = plan};
    tollbar_udp_place* places[ranks];
    const char* addresses[ranks];
    char kept[ranks][64];
    for (int rank = 0; rank < ranks; ++rank) {
        CHECK(tollbar_udp_place_open(&places[rank], "127.0.0.1:0") == 0);
        snprintf(kept[rank], sizeof kept[rank], "%s", tollbar_udp_place_address(places[rank]));
        addresses[rank] = kept[rank];
    }
    for (int rank = 0; rank < ranks; ++rank)
        CHECK(tollbar_udp_join(&all[rank], places[rank], (uint32_t)rank, ranks, addresses, &options) == 0);
}

static void run_all(void) {
    pthread_t running[ranks];
    for (int rank = 0; rank < ranks; ++rank) CHECK(pthread_create(&running[rank], NULL, run, &all[rank]) == 0);
    for (int rank = 0; rank < ranks; ++rank) pthread_join(running[rank], NULL);
}

static void the_missing_are_written_and_named(void) {
    uint32_t missing[ranks] = {0};
    size_t count = 0;
    join_all("central");
    CHECK(tollbar_udp_arrive(all[0]) == 0);
    CHECK(tollbar_udp_arrive(all[1]) == 0);
    do {
        CHECK(tollbar_udp_wait_for(all[0], 1000000, missing, 1, &count) == ETIMEDOUT);
    } while (count > 1);
    CHECK(missing[0] == 2);
    CHECK(strcmp(tollbar_last_error(), "rank 2 has not arrived") == 0);
    CHECK(tollbar_udp_arrive(all[2]) == 0);
    run_all(); /* whoever arrives again waits for the episode before */
}

/* Joins at a place of its own. */
static int join_alone(tollbar_udp** self, uint32_t rank, uint32_t size, const char* address, const char* plan,
                      int wait) {
    const tollbar_udp_options options = {.key = 42, .plan = plan, .wait = wait};
    tollbar_udp_place* place = NULL;
    CHECK(tollbar_udp_place_open(&place, "127.0.0.1:0") == 0);
    return tollbar_udp_join(self, place, rank, size, &address, &options);
}

static void errors_are_errno_values(void) {
    const char* there = "127.0.0.1:1";
    tollbar_udp_place* place = NULL;
    tollbar_udp* self = NULL;
    CHECK(tollbar_udp_place_open(NULL, there) == EINVAL);
    CHECK_FAILS(tollbar_udp_place_open(&place, "nowhere"), EINVAL, "HOST:PORT");
    CHECK(tollbar_udp_place_open(&place, "192.0.2.1:0") == EADDRNOTAVAIL);
    CHECK_FAILS(join_alone(&self, 0, 0, there, NULL, 0), EINVAL, "ranks");
    CHECK_FAILS(join_alone(&self, 1, 1, there, NULL, 0), EINVAL, "there is no rank 1 of 1");
    CHECK_FAILS(join_alone(&self, 0, 1, NULL, NULL, 0), EINVAL, "an address is NULL");
    CHECK_FAILS(join_alone(&self, 0, 1, there, "odd", 0), EINVAL, "odd");
    CHECK_FAILS(join_alone(&self, 0, 1, there, NULL, 9), EINVAL, "TOLLBAR_WAIT_AUTO");
    CHECK(tollbar_udp_join(&self, NULL, 0, 1, &there, NULL) == EINVAL);
    CHECK(tollbar_udp_arrive(NULL) == EINVAL);
    CHECK(tollbar_udp_test(NULL) == EINVAL);
    CHECK(tollbar_udp_wait(NULL) == EINVAL);
    CHECK(tollbar_udp_wait_for(NULL, 0, NULL, 0, NULL) == EINVAL);
    CHECK(join_alone(&self, 0, 1, there, NULL, 0) == 0);
    CHECK(tollbar_udp_arrive(self) == 0);
    CHECK(tollbar_udp_wait_for(self, 0, NULL, 1, NULL) == EINVAL);
    CHECK(tollbar_udp_wait(self) == 0);
    tollbar_udp_leave(self);
    tollbar_udp_leave(NULL);
    tollbar_udp_place_close(NULL);
}

int main(void) {
    join_all(NULL);
    run_all();
    the_missing_are_written_and_named();
    errors_are_errno_values();
    return verdict("barriers over UDP from C");
}
