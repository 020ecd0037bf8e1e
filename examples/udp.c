/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers over UDP from C: one rank of two, and the list of those that it misses. */
#include <tollbar/udp.h>

#include <stdio.h>

int main(void) {
    tollbar_udp_endpoint* endpoint;
    tollbar_udp* member;
    tollbar_missing missing[2];
    size_t count = 0;
    if (tollbar_udp_endpoint_create("127.0.0.1:0", &endpoint) != 0) return 1;
    const char* addresses[] = {"127.0.0.1:9", tollbar_udp_endpoint_address(endpoint)};
    const tollbar_udp_group group = {.key = {42}, .id = 1, .rank = 1, .ranks = 2, .addresses = addresses};
    if (tollbar_udp_join(endpoint, &group, NULL, &member) != 0) {
        fprintf(stderr, "%s\n", tollbar_last_error());
        return 1;
    }
    tollbar_udp_arrive(member);
    tollbar_udp_wait_for(member, 50000000); /* nobody is there */
    tollbar_udp_missing(member, missing, 2, &count);
    for (size_t i = 0; i < count; ++i)
        printf("rank %u at %s is missing for %s\n", missing[i].rank, missing[i].host,
               missing[i].waited_ns >= 50000000 ? "50 ms or more" : "less");
    tollbar_udp_leave(member);
    return 0;
}
