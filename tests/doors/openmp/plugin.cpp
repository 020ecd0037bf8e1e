// SPDX-License-Identifier: Apache-2.0
// A plugin with a runtime of its own: regions, and barriers that its callers reach from elsewhere.
#include "tolls.hpp"

#include <cstdio>

extern "C" {

/// The tolls that were missing in a region of the plugin. The master calls `between`, now and then; all of them where
/// `all` says so.
long plugin_region(int threads, void (*between)(), bool all) {
    Tolls tolls;
    std::atomic<long> iterations{0};
#pragma omp parallel num_threads(threads)
    for (long episode = 1; episode <= 200; ++episode) {
        tolls.pay(episode);
#pragma omp barrier
        tolls.check(episode);
        if (between != nullptr && episode % 50 == 0 && (all || omp_get_thread_num() == 0)) between();
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 5; ++i) ++iterations;
    }
    return early + (iterations == 1000 ? 0 : 1);
}

/// The threads of a region of the plugin that did not have a number of their own, and the tolls that were missing.
long plugin_numbers(int threads) {
    Tolls tolls;
    std::atomic<long> sum{0};
#pragma omp parallel num_threads(threads)
    {
        tolls.pay(1);
#pragma omp barrier
        tolls.check(1);
        sum += omp_get_thread_num();
    }
    return early + (sum == threads * (threads - 1) / 2 ? 0 : 1);
}

/// A region of four threads in whose two barriers all meet; `inside` is called by all between them. Thread 2 goes on
/// to the second when the standard input ends.
long plugin_late(void (*inside)()) {
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
        if (omp_get_thread_num() != 2) inside();
        if (omp_get_thread_num() == 2)
            while (std::getchar() != EOF) continue;
#pragma omp barrier
    }
    return early;
}

/// Called from outside of its regions, where it waits for nobody.
void plugin_barrier() {
#pragma omp barrier
    ++result;
    --result;
}

/// Compiled as a jump to the runtime, so that the caller seems to have called it.
void plugin_jump() {
#pragma omp barrier
}
}
