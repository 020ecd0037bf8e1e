/* SPDX-License-Identifier: Apache-2.0
 * A member for tests of include/tollbar/nic.h: pays its toll before each barrier and looks for everybody's after it.
 *
 *     member BOARD KEY GROUP RANK PLAN EPISODES SKEW_US PATIENCE_MS HOST...
 *
 * BOARD is a file of tolls that all members map. Each busy-waits up to SKEW_US before it arrives. Prints one line of
 * JSON: what carried it, episodes that ended, after how many a toll was not there, microseconds an episode, and, when
 * an episode does not end within PATIENCE_MS, the ranks that are missing. With the variable UNTIL_TOLD patience begins
 * when standard input ends. Exit code 0 unless the library says that something failed. */
#define _GNU_SOURCE
#include <tollbar/nic.h>
#include <tollbar/toll.h>
#include <tollbar/tollbar.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { most_ranks = 64 };

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double cpu_us(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static int failed(const char* call, int error) {
    printf("{\"failed\": \"%s\", \"error\": %d, \"line\": \"%s\"}\n", call, error, tollbar_last_error());
    return 1;
}

static int told(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

static int waited(tollbar_nic* member, long patience_ms, int until_told) {
    if (patience_ms == 0) return tollbar_nic_wait(member);
    for (;;) {
        const int last = !until_told || told();
        const int error = tollbar_nic_wait_for(member, patience_ms * 1000000);
        if (error != ETIMEDOUT || last) return error;
    }
}

int main(int count, char** words) {
    if (count < 10) return 2;
    const uint32_t rank = (uint32_t)atoi(words[4]), ranks = (uint32_t)(count - 9);
    const long episodes = atol(words[6]), skew = atol(words[7]), patience = atol(words[8]);
    const int until_told = getenv("UNTIL_TOLD") != NULL;
    const uint64_t key = strtoull(words[2], NULL, 16);
    const tollbar_nic_options options = {.plan = words[5], .only_nic = getenv("ONLY_NIC") != NULL};
    tollbar_nic_group group = {
        .id = (uint32_t)atoi(words[3]), .rank = rank, .ranks = ranks, .hosts = (const char* const*)(words + 9)};
    for (int i = 0; i < 8; ++i) group.key[i] = (uint8_t)(key >> 8 * i);

    const int file = open(words[1], O_RDWR);
    struct tollbar_toll* tolls = mmap(NULL, sizeof *tolls * most_ranks, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (tolls == MAP_FAILED) return 2;

    tollbar_nic* member;
    int error = tollbar_nic_join(&group, &options, &member);
    if (error != 0) return failed("join", error);
    unsigned seed = rank + 1;
    double began = 0, cpu_began = 0;
    long unpaid = 0, ended = 0;
    for (long episode = 1; episode <= episodes; ++episode) {
        if (episode == 2) { /* the first includes that others had not joined */
            began = now_us();
            cpu_began = cpu_us();
        }
        if (skew != 0)
            for (const double until = now_us() + (double)(rand_r(&seed) % skew); now_us() < until;) {
            }
        tollbar_toll_pay(tolls, rank, (uint64_t)episode);
        if ((error = tollbar_nic_arrive(member)) != 0) return failed("arrive", error);
        error = waited(member, patience, until_told);
        if (error == ETIMEDOUT) break;
        if (error != 0) return failed("wait", error);
        unpaid += tollbar_toll_leave(tolls, ranks, rank, (uint64_t)episode) != ranks;
        ++ended;
    }
    const double each = ended > 1 ? (now_us() - began) / (double)(ended - 1) : 0;
    const double cpu = ended > 1 ? (cpu_us() - cpu_began) / (double)(ended - 1) : 0;
    tollbar_missing missing[most_ranks];
    size_t absent = 0;
    if (error == ETIMEDOUT) tollbar_nic_missing(member, missing, most_ranks, &absent);
    printf(
        "{\"rank\": %u, \"carrier\": \"%s\", \"ended\": %ld, \"unpaid\": %ld, \"us\": %.3f, \"cpu_us\": %.3f, "
        "\"missing\": [",
        rank, tollbar_nic_carrier(member), ended, unpaid, each, cpu);
    for (size_t i = 0; i < absent; ++i) printf("%s%u", i == 0 ? "" : ", ", missing[i].rank);
    printf("]}\n");
    fflush(stdout);
    if (getenv("STAY") != NULL) getchar(); /* a process that has left the barrier but not the group */
    tollbar_nic_leave(member);
    return 0;
}
