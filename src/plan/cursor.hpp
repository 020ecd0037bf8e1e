// SPDX-License-Identifier: Apache-2.0
// The state of a plan that is run without a transport, in proofs, prices and models: how far each member has come.
#pragma once

#include <tollbar/plan.hpp>

#include <concepts>
#include <cstdint>
#include <vector>

namespace tollbar::detail {

/// The number of a step among those of all members, or of a cell.
using Index = std::uint32_t;

/// The steps of all members: those of member m are steps.first[m] .. steps.first[m + 1] - 1. Steps meet at cells, which
/// are channels, counters and releases. A cell grows by one with each step there that is no await, and an await is met
/// when its cell has grown by share(step) in each episode.
template <class T>
concept Steps = requires(const T& steps, Index step) {
    { steps.first[step] } -> std::convertible_to<Index>;
    { steps.cells() } -> std::convertible_to<Index>;
    { steps.awaits(step) } -> std::same_as<bool>;
    { steps.cell(step) } -> std::convertible_to<Index>;
    { steps.share(step) } -> std::convertible_to<std::uint64_t>;
};

/// One run of a plan: how far each member has come in which episode, and how far each cell has grown. The models and
/// proofs that walk with it decide when a step is taken, and when what it signals has come.
///
///     Cursor cursor(schedule);
///     cursor.enter(self);
///     while (!cursor.finished(self) && cursor.may_go_on(self)) cursor.go_on(self, take(cursor.next(self)));
template <Steps S>
class Cursor {
public:
    /// No member has entered an episode. `steps` outlives the cursor.
    explicit Cursor(const S& steps)
        : steps_(steps), next_(steps.first.begin() + 1, steps.first.end()), episode_(next_.size()),
          grown_(steps.cells()) {}

    /// Begins the steps of a member, in its next episode.
    void enter(Rank member) {
        next_[member] = steps_.first[member];
        ++episode_[member];
    }

    void enter_all() {
        for (Rank member = 0; member < next_.size(); ++member) enter(member);
    }

    /// The episode that the member entered last.
    Episode episode(Rank member) const { return episode_[member]; }
    bool finished(Rank member) const { return next_[member] == steps_.first[member + 1]; }
    bool is_at_await(Rank member) const { return !finished(member) && steps_.awaits(next_[member]); }

    /// The step that the member stands at, or one past its last.
    Index next(Rank member) const { return next_[member]; }
    void go_on(Rank member, Index steps = 1) { next_[member] += steps; }

    /// Lets the cell grow by one signal that has come. Returns how far it has grown.
    std::uint64_t come(Index cell) { return ++grown_[cell]; }

    /// Whether the await of the member is met.
    bool met(Rank member, Index step) const {
        return grown_[steps_.cell(step)] >= episode_[member] * steps_.share(step);
    }

    /// Goes on to the first await of the set that is not met. Returns whether there is none.
    bool pass_awaits(Rank member) {
        while (is_at_await(member) && met(member, next_[member])) go_on(member);
        return !is_at_await(member);
    }

    /// Whether all awaits from the next step on to the end of their set are met.
    bool set_met(Rank member) const {
        Index step = next_[member];
        while (step < steps_.first[member + 1] && steps_.awaits(step) && met(member, step)) ++step;
        return step == steps_.first[member + 1] || !steps_.awaits(step);
    }

private:
    const S& steps_;
    std::vector<Index> next_;       // by member
    std::vector<Episode> episode_;  // by member
    std::vector<std::uint64_t> grown_;
};

}  // namespace tollbar::detail
