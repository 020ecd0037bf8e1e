// SPDX-License-Identifier: Apache-2.0
// Barriers between hosts over UDP: three ranks that all happen to be on this host, one of which is late.
#include <tollbar/algorithms.hpp>
#include <tollbar/udp.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

int main() {
    using namespace std::chrono_literals;
    constexpr tollbar::Rank ranks = 3;
    std::vector<tollbar::udp_endpoint> sockets;
    std::vector<std::string> addresses;  // a launcher collects these
    for (tollbar::Rank rank = 0; rank < ranks; ++rank) {
        sockets.emplace_back("127.0.0.1:0");
        addresses.push_back(sockets.back().address());
    }

    const tollbar::Plan plan = tollbar::make_plan("dissemination", ranks);
    std::vector<std::jthread> others;
    for (tollbar::Rank rank = 1; rank < ranks; ++rank)
        others.emplace_back([&, rank] {
            tollbar::udp_participant self(std::move(sockets[rank]), plan, rank, addresses, {.key = 42});
            if (rank == 2) std::this_thread::sleep_for(300ms);
            self.arrive_and_wait();
        });
    tollbar::udp_participant self(std::move(sockets[0]), plan, 0, addresses, {.key = 42});
    self.arrive();
    for (auto met = self.wait_for(100ms); !met; met = self.wait_for(100ms))
        for (const tollbar::Rank late : met.missing) std::cout << "rank " << late << " is late\n";
    std::cout << "all have arrived in episode " << self.episode() << '\n';
}
