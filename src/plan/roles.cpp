// SPDX-License-Identifier: Apache-2.0
#include "roles.hpp"

#include <algorithm>
#include <array>

namespace tollbar::detail {

namespace {

std::vector<Rank> sorted_peers(std::span<const Step> steps) {
    std::vector<Rank> peers;
    for (const Step step : steps) peers.push_back(step.peer);
    if (!std::ranges::is_sorted(peers)) std::ranges::sort(peers);
    return peers;
}

bool has(const std::vector<Rank>& sorted, Rank member) { return std::ranges::binary_search(sorted, member); }

/// Whether a program signals `role` and awaits it right after.
bool meets_at(std::span<const Step> program, Rank role) {
    const std::array meeting{signal(role), await(role)};
    return std::search(program.begin(), program.end(), meeting.begin(), meeting.end()) != program.end();
}

}  // namespace

RoleParts parts_of(Rank role, const Programs& programs, const MayCount& may_count) {
    const std::span<const Step> own = programs.of(role);
    const auto gathered_until = static_cast<std::size_t>(std::ranges::find_if(own, is_signal) - own.begin());
    const auto last_await = std::find_if(own.rbegin(), own.rend(), is_await).base() - own.begin();
    const std::size_t released_from = std::max(gathered_until, static_cast<std::size_t>(last_await));
    const std::vector<Rank> released = sorted_peers(own.subspan(released_from));

    RoleParts parts;
    bool has_ranks = false;
    for (const Step step : own.first(gathered_until)) {
        if (!has(released, step.peer) || !meets_at(programs.of(step.peer), role)) continue;
        parts.members.push_back(step.peer);
        has_ranks = has_ranks || step.peer < programs.first_role;
    }
    if (has_ranks) std::erase_if(parts.members, [&](Rank member) { return member >= programs.first_role; });
    if (may_count && !parts.members.empty())
        std::erase_if(parts.members, [&, first = parts.members.front()](Rank member) {
            return member != first && !may_count(first, member);
        });

    parts.sorted = parts.members;
    std::ranges::sort(parts.sorted);
    for (std::size_t i = 0; i < own.size(); ++i)
        if ((i >= gathered_until && i < released_from) || !has(parts.sorted, own[i].peer))
            parts.between.push_back(own[i]);
    return parts;
}

}  // namespace tollbar::detail
