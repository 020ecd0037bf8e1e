/* SPDX-License-Identifier: Apache-2.0
 * Two members of a group on network cards meet, over UDP where there is no daemon; member 1 comes once TEXT stands in
 * FILE. Their hosts are two addresses of this one, of their process alone.
 *
 * usage: nic FILE TEXT */
#include "../await.h"

#include <tollbar/nic.h>

#include <pthread.h>
#include <unistd.h>

static const char* const* words;
static tollbar_nic* members[2];

static void* late(void* unused) {
    await_text(words[1], words[2]);
    tollbar_nic_arrive_and_wait(members[1]);
    return unused;
}

int main(int count, const char* const* arguments) {
    pthread_t other;
    char texts[2][32];
    const char* hosts[2] = {texts[0], texts[1]};
    words = arguments;
    if (count != 3) return 1;
    for (int rank = 0; rank < 2; ++rank)
        snprintf(texts[rank], sizeof texts[rank], "127.%d.%d.%d", 64 + rank, getpid() >> 8 & 255, getpid() & 255);
    for (unsigned rank = 0; rank < 2; ++rank) {
        const tollbar_nic_group group = {.key = {1}, .id = 1, .rank = rank, .ranks = 2, .hosts = hosts};
        if (tollbar_nic_join(&group, NULL, &members[rank]) != 0) return 1;
    }
    tollbar_nic_arrive(members[0]);
    pthread_create(&other, NULL, late, NULL);
    tollbar_nic_wait(members[0]);
    pthread_join(other, NULL);
    for (int rank = 0; rank < 2; ++rank) tollbar_nic_leave(members[rank]);
    puts("met");
    return 0;
}
