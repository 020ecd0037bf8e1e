// SPDX-License-Identifier: Apache-2.0
// Forks between regions and inside one. The child works on alone, where its runtime can also with others.
#include "tolls.hpp"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

static void region(int threads) {
    Tolls tolls;
#pragma omp parallel num_threads(threads)
    for (long episode = 1; episode <= 50; ++episode) {
        tolls.pay(episode);
#pragma omp barrier
        tolls.check(episode);
    }
}

static void fork_and_work(int threads) {
    const pid_t child = fork();
    if (child == 0) {
        region(threads);
        _exit(early == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    early += status == 0 ? 0 : 1000;
}

int main(int, char** words) {
    const int threads = std::atoi(words[1]);
    region(3);
    fork_and_work(threads);
    region(4);
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
#pragma omp master
        fork_and_work(threads);
#pragma omp barrier
    }
    region(2);
    std::printf("%ld early\n", early.load());
    return early == 0 ? 0 : 1;
}
