// SPDX-License-Identifier: Apache-2.0
// A walk backwards from a member's step along all messages it rests on; each rank that is not met is unheard. It reads
// the programs that it comes to and no others, also of plans that are no barriers, so it needs no matching.
#include "unheard.hpp"

#include "plan/wording.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace tollbar::detail {

std::vector<Rank> unheard(const Plan& plan, Rank self, std::size_t steps) {
    std::vector<std::optional<Program>> programs(plan.members());
    const auto program_of = [&](Rank index) -> const Program& {
        if (!programs[index]) programs[index] = plan.program(plan.member_at(index));
        return *programs[index];
    };
    if (const std::size_t all = plan.program(self).size(); steps > all)
        throw std::invalid_argument(worded({named(self), " has ", all, " steps, not ", steps}));

    struct Progress {
        Rank index;
        std::size_t steps;
    };
    std::vector<Progress> news{{plan.index_of(self), steps}};
    std::vector<std::size_t> finished(plan.members());  // of each member, how many steps are known to be over
    while (!news.empty()) {
        const auto [index, until] = news.back();
        news.pop_back();
        for (std::size_t& step = finished[index]; step < until; ++step) {
            const auto [kind, peer] = program_of(index)[step];
            const Rank from = plan.index_of(peer);
            if (kind != Step::Kind::await || from >= plan.members()) continue;
            const Program& sender = program_of(from);
            const auto sent = std::ranges::find(sender, signal(plan.member_at(index)));
            if (sent != sender.end()) news.push_back({from, static_cast<std::size_t>(sent - sender.begin()) + 1});
        }
    }

    std::vector<Rank> missing;
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
        if (finished[rank] == 0 && rank != self) missing.push_back(rank);
    return missing;
}

}  // namespace tollbar::detail
