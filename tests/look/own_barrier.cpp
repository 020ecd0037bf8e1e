// SPDX-License-Identifier: Apache-2.0
// Three threads of which one never comes to a barrier of tollbar's, which the argument names.
#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>
#include <tollbar/tollbar.h>

#include <cstdio>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int threads = 3, arrivals = 1024;  // of a thread at leaves

[[gnu::noinline]] void late() {
    for (;;) pause();
}

/// Calls `meet(rank, wait)` in each thread; the `wait` of rank 1 does not return.
template <class Meet>
[[gnu::noinline]] void worker(int rank, Meet& meet) {
    meet(rank, [rank] {
        if (rank == 1) late();
    });
}

template <class Meet>
void run(Meet meet) {
    std::vector<std::thread> all;
    for (int rank = 0; rank < threads; ++rank) all.emplace_back([rank, &meet] { worker(rank, meet); });
    std::puts("ready");
    std::fflush(stdout);
    for (std::thread& each : all) each.join();
}

}  // namespace

int main(int, char** word) {
    const std::string_view kind = word[1];
    if (kind == "barrier") {
        tollbar::barrier barrier(threads);
        run([&](int, auto wait) {
            wait();
            barrier.arrive_and_wait();
        });
    } else if (kind == "completion") {
        tollbar::barrier barrier(threads, []() noexcept {});
        run([&](int, auto wait) {
            wait();
            barrier.arrive_and_wait();
        });
    } else if (kind == "leaves") {
        tollbar::barrier barrier(arrivals * threads);
        run([&](int, auto wait) {
            wait();
            barrier.wait(barrier.arrive(arrivals));
        });
    } else if (kind == "group") {
        tollbar::group group(threads);
        run([&](int rank, auto wait) {
            tollbar::participant self = group.join(static_cast<tollbar::Rank>(rank));
            wait();
            self.arrive_and_wait();
        });
    } else {
        tollbar_barrier* barrier = nullptr;
        if (tollbar_barrier_create(threads, nullptr, nullptr, &barrier) != 0) return 1;
        run([&](int, auto wait) {
            wait();
            tollbar_barrier_arrive_and_wait(barrier);
        });
    }
}
