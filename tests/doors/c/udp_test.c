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
        if (episode % 3 == 2) CHECK(tollbar_udp_arrive_and_wait(self) == 0);
        if (episode % 3 == 2) continue;
        CHECK(tollbar_udp_arrive(self) == 0);
        if (episode % 3 == 0) CHECK(tollbar_udp_wait(self) == 0);
        while (episode % 3 == 1 && tollbar_udp_test(self) == EAGAIN) {
        }
    }
    tollbar_udp_leave(self);
    return NULL;
}

static void join_all(const char* plan) {
    const tollbar_udp_options options = {.plan = plan};
    tollbar_udp_endpoint* endpoints[ranks];
    const char* addresses[ranks];
    char kept[ranks][64];
    for (int rank = 0; rank < ranks; ++rank) {
        CHECK(tollbar_udp_endpoint_create("127.0.0.1:0", &endpoints[rank]) == 0);
        snprintf(kept[rank], sizeof kept[rank], "%s", tollbar_udp_endpoint_address(endpoints[rank]));
        addresses[rank] = kept[rank];
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const tollbar_udp_group group = {.key = {42}, .rank = rank, .ranks = ranks, .addresses = addresses};
        CHECK(tollbar_udp_join(endpoints[rank], &group, &options, &all[rank]) == 0);
    }
}

static void run_all(void) {
    pthread_t running[ranks];
    for (int rank = 0; rank < ranks; ++rank) CHECK(pthread_create(&running[rank], NULL, run, &all[rank]) == 0);
    for (int rank = 0; rank < ranks; ++rank) pthread_join(running[rank], NULL);
}

static void the_missing_are_written_and_named(void) {
    tollbar_missing missing[ranks] = {{0}};
    size_t count = 0;
    join_all("central");
    CHECK(tollbar_udp_arrive(all[0]) == 0);
    CHECK(tollbar_udp_arrive(all[1]) == 0);
    do {
        CHECK(tollbar_udp_wait_for(all[0], 1000000) == ETIMEDOUT);
        CHECK(tollbar_udp_missing(all[0], missing, 1, &count) == 0);
    } while (count > 1);
    CHECK(missing[0].rank == 2 && missing[0].state == TOLLBAR_UNKNOWN && missing[0].thread_number == -1);
    CHECK(missing[0].waited_ns >= 1000000 && strncmp(missing[0].host, "127.0.0.1:", 10) == 0);
    CHECK(tollbar_udp_wait_for(all[0], 0) == ETIMEDOUT);
    CHECK(strcmp(tollbar_last_error(), "nothing heard from rank 2") == 0);
    CHECK(tollbar_udp_arrive(all[2]) == 0);
    run_all(); /* whoever arrives again waits for the episode before */
}

/* Joins at an endpoint of its own. */
static int join_alone(tollbar_udp** self, uint32_t rank, uint32_t size, const char* address, const char* plan,
                      int wait) {
    const tollbar_udp_group group = {.key = {42}, .rank = rank, .ranks = size, .addresses = &address};
    const tollbar_udp_options options = {.plan = plan, .wait = (tollbar_wait)wait};
    tollbar_udp_endpoint* endpoint = NULL;
    CHECK(tollbar_udp_endpoint_create("127.0.0.1:0", &endpoint) == 0);
    return tollbar_udp_join(endpoint, &group, &options, self);
}

static void errors_are_errno_values(void) {
    const char* there = "127.0.0.1:1";
    tollbar_udp_endpoint* endpoint = NULL;
    tollbar_udp* self = NULL;
    tollbar_missing missing;
    size_t count = 99;
    CHECK(tollbar_udp_endpoint_create(there, NULL) == EINVAL);
    CHECK_FAILS(tollbar_udp_endpoint_create("nowhere", &endpoint), EINVAL, "HOST:PORT");
    CHECK(tollbar_udp_endpoint_create("192.0.2.1:0", &endpoint) == EADDRNOTAVAIL);
    CHECK_FAILS(join_alone(&self, 0, 0, there, NULL, 0), EINVAL, "ranks");
    CHECK_FAILS(join_alone(&self, 1, 1, there, NULL, 0), EINVAL, "there is no rank 1 of 1");
    CHECK_FAILS(join_alone(&self, 0, 1, NULL, NULL, 0), EINVAL, "an address is NULL");
    CHECK_FAILS(join_alone(&self, 0, 1, there, "odd", 0), EINVAL, "odd");
    CHECK_FAILS(join_alone(&self, 0, 1, there, NULL, 9), EINVAL, "TOLLBAR_WAIT_AUTO");
    CHECK_FAILS(tollbar_udp_join(NULL, NULL, NULL, &self), EINVAL, "endpoint, group, its addresses or member is NULL");
    CHECK(tollbar_udp_arrive(NULL) == EINVAL);
    CHECK(tollbar_udp_test(NULL) == EINVAL);
    CHECK(tollbar_udp_wait(NULL) == EINVAL);
    CHECK(tollbar_udp_arrive_and_wait(NULL) == EINVAL);
    CHECK(tollbar_udp_wait_for(NULL, 0) == EINVAL);
    CHECK(tollbar_udp_missing(NULL, &missing, 1, &count) == EINVAL);
    CHECK(join_alone(&self, 0, 1, there, NULL, 0) == 0);
    CHECK(tollbar_udp_arrive(self) == 0);
    CHECK(tollbar_udp_missing(self, NULL, 1, &count) == EINVAL && count == 99);
    CHECK(tollbar_udp_wait(self) == 0);
    CHECK(tollbar_udp_leave(self) == 0 && tollbar_udp_leave(NULL) == 0);
    CHECK(tollbar_udp_endpoint_destroy(NULL) == 0);
}

int main(void) {
    join_all(NULL);
    run_all();
    the_missing_are_written_and_named();
    errors_are_errno_values();
    return verdict("barriers over UDP from C");
}
