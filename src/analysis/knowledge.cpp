// SPDX-License-Identifier: Apache-2.0
// Unites sets of ranks, smallest first, so that a long list is walked as seldom as can be.
#include "knowledge.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace tollbar::detail {

namespace {

void append(Runs& runs, Run run) {
    if (!runs.empty() && run.begin <= runs.back().end)
        runs.back().end = std::max(runs.back().end, run.end);
    else
        runs.push_back(run);
}

}  // namespace

Knowledge::Id Knowledge::fresh() {
    if (unheld_.empty()) {
        unheld_.push_back(static_cast<Id>(sets_.size()));
        sets_.emplace_back();
        holders_.push_back(0);
    }
    const Id id = unheld_.back();
    unheld_.pop_back();
    sets_[id].clear();
    holders_[id] = 1;
    return id;
}

void Knowledge::give_up(Id id) {
    if (--holders_[id] == 0) unheld_.push_back(id);
}

Knowledge::Id Knowledge::of(Rank rank) {
    const Id id = fresh();
    sets_[id].push_back({rank, rank + 1});
    return id;
}

Knowledge::Id Knowledge::unite_two(Id a, Id b) {
    if (a != b) {
        const Id both = fresh();
        const Runs& left = sets_[a];
        const Runs& right = sets_[b];
        for (std::size_t i = 0, j = 0; i < left.size() || j < right.size();)
            if (j == right.size() || (i < left.size() && left[i].begin < right[j].begin))
                append(sets_[both], left[i++]);
            else
                append(sets_[both], right[j++]);
        touched_ += left.size() + right.size();
        give_up(a);
        a = both;
    }
    give_up(b);
    return a;
}

Knowledge::Id Knowledge::unite(std::span<const Id> parts) {
    if (parts.size() == 1) return parts[0];
    if (parts.size() == 2) return unite_two(parts[0], parts[1]);

    // Among equals the first comes first: neighbours meet, and meeting they become one run.
    using Entry = std::tuple<std::size_t, std::size_t, Id>;  // runs, order, set
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> smallest;
    std::size_t order = 0;
    for (const Id id : parts) smallest.emplace(sets_[id].size(), order++, id);
    for (;;) {
        const Id a = std::get<Id>(smallest.top());
        smallest.pop();
        const Id b = std::get<Id>(smallest.top());
        smallest.pop();
        const Id both = unite_two(a, b);
        if (smallest.empty()) return both;
        smallest.emplace(sets_[both].size(), order++, both);
    }
}

}  // namespace tollbar::detail
