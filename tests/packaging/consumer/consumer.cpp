// SPDX-License-Identifier: Apache-2.0
// A user's program: proves a plan, then counts with two threads that meet at a barrier.
#include <tollbar/algorithms.hpp>
#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>
#include <tollbar/verify.hpp>

#include <cstdio>
#include <thread>

int main() {
    const bool proven = tollbar::verify(tollbar::make_plan("dissemination", 5)).holds();

    int phases = 0;
    tollbar::barrier both(2, [&phases]() noexcept { ++phases; });
    tollbar::group group(2);
    const auto meet = [&](tollbar::Rank rank) {
        tollbar::participant self = group.join(rank);
        for (int episode = 0; episode < 100; ++episode) {
            both.arrive_and_wait();
            self.arrive_and_wait();
        }
    };
    std::thread other(meet, 1);
    meet(0);
    other.join();

    std::printf("proven %d, phases %d\n", proven, phases);
}
