// SPDX-License-Identifier: Apache-2.0
// A plugin with a runtime of its own: regions, and barriers that its callers reach from elsewhere.
#include "tolls.hpp"

extern "C" {

/// The tolls that were missing in a region of the plugin. The master calls `between`, now and then.
long plugin_region(int threads, void (*between)()) {
    Tolls tolls;
    std::atomic<long> iterations{0};
#pragma omp parallel num_threads(threads)
    for (long episode = 1; episode <= 200; ++episode) {
        tolls.pay(episode);
#pragma omp barrier
        tolls.check(episode);
#pragma omp master
        if (between != nullptr && episode % 50 == 0) between();
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 5; ++i) ++iterations;
    }
    return early + (iterations == 1000 ? 0 : 1);
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
