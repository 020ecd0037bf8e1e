// SPDX-License-Identifier: Apache-2.0
// Three ranked threads run a plan: arrive, do something else, wait; and a time-out that names who is missing.
#include <tollbar/participant.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

using namespace std::chrono_literals;

int main() {
    tollbar::group group(3, {.plan = "dissemination"});
    std::jthread second([&] { group.join(1).arrive_and_wait(); });

    tollbar::participant self = group.join(0);
    self.arrive();
    std::printf("rank 0 has arrived and does something else\n");

    const tollbar::wait_result result = self.wait_for(10ms);
    for (const tollbar::absent& one : result.missing)
        if (one.rank == 2) std::printf("still missing: %s\n", to_text(one).c_str());

    std::jthread third([&] { group.join(2).arrive_and_wait(); });
    self.wait();  // the same episode
    std::printf("everybody has arrived in episode %llu\n", static_cast<unsigned long long>(self.episode()));
}
