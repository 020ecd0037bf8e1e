// SPDX-License-Identifier: Apache-2.0
// Makes two groups and a barrier as the environment says and tells what they run, for tests that set it.
#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

int main(int, char** arguments) {
    const auto ranks = static_cast<tollbar::Rank>(std::atoi(arguments[1]));
    for (int i = 0; i < 2; ++i) {
        tollbar::group group(ranks);
        tollbar::participant self = group.join(0);
        self.arrive();
        static_cast<void>(self.wait_for(std::chrono::microseconds(1)));
        std::cout << "plan " << group.plan() << std::endl;
    }
    tollbar::barrier barrier(2);
    static_cast<void>(barrier.wait_for(barrier.arrive(), std::chrono::microseconds(1)));
}
