// SPDX-License-Identifier: Apache-2.0
// The ranks that members have heard of: sets as sorted runs of neighbours, shared between members that know the same.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tollbar::detail {

/// Neighbouring ranks: begin .. end-1.
struct Run {
    Rank begin;
    Rank end;

    friend bool operator==(Run, Run) = default;
};

/// Ascending, with a gap between any two.
using Runs = std::vector<Run>;

/// Sets of ranks that never change once made, counted by their holders; a set without a holder is made anew.
///
///     Knowledge knowledge;
///     auto mine = knowledge.of(3), received = knowledge.of(4);
///     auto sent = knowledge.share(mine);             // one more holder, no copy
///     knowledge.unite(std::array{mine, received});   // {3, 4}; gives up mine and received
class Knowledge {
public:
    using Id = std::uint32_t;

    /// The set of that rank alone.
    Id of(Rank rank);

    /// The empty set.
    Id none() { return fresh(); }

    Id share(Id id) {
        ++holders_[id];
        return id;
    }

    /// The union of all. Gives up one hold on each part; `parts` must not be empty.
    Id unite(std::span<const Id> parts);

    const Runs& runs(Id id) const noexcept { return sets_[id]; }

    /// Runs read while uniting.
    std::uint64_t touched() const noexcept { return touched_; }

private:
    Id fresh();
    void give_up(Id id);
    Id unite_two(Id a, Id b);

    std::vector<Runs> sets_;
    std::vector<std::uint32_t> holders_;
    std::vector<Id> unheld_;
    std::uint64_t touched_ = 0;
};

}  // namespace tollbar::detail
