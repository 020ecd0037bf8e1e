// SPDX-License-Identifier: Apache-2.0
// Regions as GCC before 4.9 opens them: the master runs the body by itself, between two calls.
#include "tolls.hpp"

#include <cstdio>

extern "C" {
void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads);
void GOMP_parallel_end();
void GOMP_barrier();
}

static void body(void* data) {
    auto& tolls = *static_cast<Tolls*>(data);
    for (long episode = 1; episode <= 100; ++episode) {
        tolls.pay(episode);
        GOMP_barrier();
        tolls.check(episode);
        ++result;
    }
}

int main() {
    for (unsigned threads = 1; threads <= 4; ++threads) {
        Tolls tolls;
        GOMP_parallel_start(body, &tolls, threads);
        body(&tolls);
        GOMP_parallel_end();
    }
    std::printf("%ld early, %ld\n", early.load(), result.load());
    return early == 0 && result == 1000 ? 0 : 1;
}
