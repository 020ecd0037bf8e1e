// SPDX-License-Identifier: Apache-2.0
// Makes two groups and a barrier as the environment says and tells what they run, for tests that set it.
//
// usage: probe RANKS             rank 0 arrives alone
//        probe RANKS FILE TEXT   the others arrive in an episode that it waits for, once TEXT stands in FILE
#include "../await.h"

#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

namespace {

void wait_for_others(tollbar::group& group, tollbar::participant& self, const char* file, const char* text) {
    std::thread others([&] {
        await_text(file, text);
        for (tollbar::Rank rank = 1; rank < group.ranks(); ++rank) group.join(rank).arrive();
    });
    self.wait();
    others.join();
}

}  // namespace

int main(int count, char** arguments) {
    const auto ranks = static_cast<tollbar::Rank>(std::atoi(arguments[1]));
    for (int i = 0; i < 2; ++i) {
        tollbar::group group(ranks);
        tollbar::participant self = group.join(0);
        self.arrive();
        static_cast<void>(self.wait_for(std::chrono::microseconds(1)));
        if (count > 3 && i == 0) wait_for_others(group, self, arguments[2], arguments[3]);
        std::cout << "plan " << group.plan() << std::endl;
    }
    tollbar::barrier barrier(2);
    static_cast<void>(barrier.wait_for(barrier.arrive(), std::chrono::microseconds(1)));
}
