// SPDX-License-Identifier: Apache-2.0
// Walks backwards from a rank's step along all messages it rests on; whoever is not met is unheard.
#include <tollbar/unheard.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace tollbar {

std::vector<Rank> unheard(const Plan& plan, Rank self, std::size_t steps) {
    std::vector<std::optional<Program>> programs(plan.ranks());
    const auto program_of = [&](Rank rank) -> const Program& {
        if (!programs[rank]) programs[rank] = plan.program(rank);
        return *programs[rank];
    };
    if (const std::size_t all = plan.program(self).size(); steps > all)
        throw std::invalid_argument("rank " + std::to_string(self) + " has " + std::to_string(all) + " steps, not " +
                                    std::to_string(steps));

    struct Progress {
        Rank rank;
        std::size_t steps;
    };
    std::vector<Progress> news{{self, steps}};
    std::vector<std::size_t> finished(plan.ranks());  // of each rank, how many steps are known to be over
    while (!news.empty()) {
        const auto [rank, until] = news.back();
        news.pop_back();
        for (std::size_t& step = finished[rank]; step < until; ++step) {
            const auto [kind, peer] = program_of(rank)[step];
            if (kind != Step::Kind::await || peer >= plan.ranks()) continue;
            const Program& sender = program_of(peer);
            const auto told = std::ranges::find(sender, signal(rank));
            if (told != sender.end()) news.push_back({peer, static_cast<std::size_t>(told - sender.begin()) + 1});
        }
    }

    std::vector<Rank> missing;
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
        if (finished[rank] == 0 && rank != self) missing.push_back(rank);
    return missing;
}

}  // namespace tollbar
