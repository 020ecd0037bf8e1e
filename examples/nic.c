/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier on network cards: two members, which the same program would be on two hosts. They fall back to UDP where
 * there is no daemon. The launcher of a job draws its key and tells it to all hosts. */
#include <tollbar/nic.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>

static const char* const hosts[] = {"127.0.0.1", "127.0.0.2"};
static tollbar_nic_group job = {.id = 1, .ranks = 2, .hosts = hosts};

static void* run(void* argument) {
    tollbar_nic* member;
    tollbar_nic_group group = job;
    group.rank = *(const unsigned*)argument;
    if (tollbar_nic_join(&group, NULL, &member) != 0) {
        fprintf(stderr, "%s\n", tollbar_last_error());
        return argument;
    }
    int error = 0;
    for (int episode = 0; episode < 100 && error == 0; ++episode) {
        error = tollbar_nic_arrive(member);
        /* something that needs no other member */
        if (error == 0) error = tollbar_nic_wait(member);
    }
    if (error == 0 && group.rank == 0) printf("100 episodes over %s\n", tollbar_nic_carrier(member));
    tollbar_nic_leave(member);
    return error == 0 ? NULL : argument;
}

int main(void) {
    unsigned ranks[] = {0, 1};
    pthread_t other;
    void* failed;
    if (getrandom(job.key, sizeof job.key, 0) != sizeof job.key) return 1;
    if (pthread_create(&other, NULL, run, &ranks[1]) != 0) return 1;
    const int mine = run(&ranks[0]) != NULL;
    pthread_join(other, &failed);
    return mine || failed != NULL;
}
