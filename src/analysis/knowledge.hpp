// SPDX-License-Identifier: Apache-2.0
// Who has heard of whom: sets of ranks as sorted runs of neighbours, shared between all who know the same.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tollbar {

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
///     auto mine = knowledge.of(3), heard = knowledge.of(4);
///     auto told = knowledge.share(mine);             // one more holder, no copy
///     knowledge.unite(std::array{mine, heard});      // {3, 4}; gives up mine and heard
class Knowledge {
public:
    using Id = std::uint32_t;

    /// The set of that rank alone.
    Id of(Rank rank);

    /// The set of nobody.
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

}  // namespace tollbar
