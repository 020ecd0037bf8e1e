/* SPDX-License-Identifier: Apache-2.0
 * Two ranks of UDP meet; rank 1 comes once TEXT stands in FILE.
 *
 * usage: udp FILE TEXT */
#include "../await.h"

#include <tollbar/udp.h>

#include <pthread.h>

static const char* const* words;
static tollbar_udp* selves[2];

static void* late(void* unused) {
    await_text(words[1], words[2]);
    tollbar_udp_arrive_and_wait(selves[1]);
    return unused;
}

int main(int count, const char* const* arguments) {
    pthread_t other;
    tollbar_udp_endpoint* endpoints[2];
    const char* addresses[2];
    char texts[2][64];
    words = arguments;
    if (count != 3) return 1;
    for (int rank = 0; rank < 2; ++rank) {
        if (tollbar_udp_endpoint_create("127.0.0.1:0", &endpoints[rank]) != 0) return 1;
        snprintf(texts[rank], sizeof texts[rank], "%s", tollbar_udp_endpoint_address(endpoints[rank]));
        addresses[rank] = texts[rank];
    }
    for (unsigned rank = 0; rank < 2; ++rank) {
        const tollbar_udp_group group = {.key = {1}, .rank = rank, .ranks = 2, .addresses = addresses};
        if (tollbar_udp_join(endpoints[rank], &group, NULL, &selves[rank]) != 0) return 1;
    }
    tollbar_udp_arrive(selves[0]);
    pthread_create(&other, NULL, late, NULL);
    tollbar_udp_wait(selves[0]);
    pthread_join(other, NULL);
    for (int rank = 0; rank < 2; ++rank) tollbar_udp_leave(selves[rank]);
    puts("met");
    return 0;
}
