// SPDX-License-Identifier: Apache-2.0
// The barriers of Markatos et al. 1991, section 3.3, and all others: plans, whose roles the last to come plays.
#include "scheduler_meeting.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace tollbar::scheduler {

namespace {

/// A set of awaits is one test, as one word holds the flags of four children.
class Planned final : public Meeting {
public:
    explicit Planned(const Plan& plan)
        : matching_(match(plan)), told_(matching_.messages), entered_(matching_.members),
          next_(matching_.first.begin() + 1, matching_.first.end()), counts_(matching_.steps.size()),
          members_(matching_.members), arrivals_(matching_.members), player_(matching_.members) {
        for (Rank role = matching_.ranks; role < matching_.members; ++role)
            for (const Rank member : players_of(role)) {
                const auto word = matching_.steps.begin() + matching_.first[member];
                const auto tells = std::find(word, matching_.steps.end(), signal(role));
                counts_[static_cast<Index>(tells - matching_.steps.begin())] = true;
                ++members_[role];
            }
    }

    void enter(std::uint32_t thread) override { begin(thread); }

    Step advance(std::uint32_t thread) override {
        const std::uint64_t before = steps_;
        run(thread, thread);
        return {.moved = steps_ != before, .through = finished(thread)};
    }

    bool can_advance(std::uint32_t thread) const override {
        Rank self = thread;
        while (plays_on(self, thread)) self = matching_.steps[next_[self]].peer;
        return heard_all(self);
    }

private:
    /// A representative stays on its processor: a role with threads of its own is not played from another role's.
    std::vector<Rank> players_of(Rank role) const {
        std::vector<Rank> members = members_of(matching_, role);
        if (members.front() < matching_.ranks)
            std::erase_if(members, [this](Rank member) { return member >= matching_.ranks; });
        return members;
    }

    void begin(Rank self) {
        ++entered_[self];
        next_[self] = matching_.first[self];
    }

    bool finished(Rank self) const { return next_[self] == matching_.first[self + 1]; }

    /// Goes on with the word of `self`, the thread or a role that it plays.
    void run(Rank self, std::uint32_t thread) {
        for (Index& next = next_[self]; !finished(self); ++steps_) {
            if (is_signal(matching_.steps[next])) {
                tell(self, thread);
                ++next;
                continue;
            }
            if (plays_on(self, thread)) run(matching_.steps[next].peer, thread);
            if (!heard_all(self)) return;
            next = matching_.set_end(next, self);
        }
    }

    void tell(Rank self, std::uint32_t thread) {
        const Index step = next_[self];
        told_[matching_.message[step]] = entered_[self];
        if (!counts_[step]) return;
        const Rank role = matching_.steps[step].peer;
        if (++arrivals_[role] < entered_[self] * members_[role]) return;
        player_[role] = thread;
        begin(role);
    }

    /// Whether `self` has just arrived at a role that the thread plays and is not through with.
    bool plays_on(Rank self, std::uint32_t thread) const {
        if (finished(self) || next_[self] == matching_.first[self] || !counts_[next_[self] - 1]) return false;
        const Rank role = matching_.steps[next_[self]].peer;
        return player_[role] == thread && !finished(role);
    }

    bool heard_all(Rank self) const {
        const Index end = matching_.set_end(next_[self], self);
        for (Index step = next_[self]; step < end; ++step)
            if (told_[matching_.message[step]] < entered_[self]) return false;
        return true;
    }

    Matching matching_;
    std::vector<Episode> told_;           // of each message, the last episode it was signalled for
    std::vector<Episode> entered_;        // of each member, as are the others but counts_
    std::vector<Index> next_;             // the step it stands at
    std::vector<bool> counts_;            // of each step: it is a member's arrival at its role
    std::vector<std::uint64_t> members_;  // of a role: how many may play it
    std::vector<std::uint64_t> arrivals_;
    std::vector<std::uint32_t> player_;  // of a role: the thread that came last
    std::uint64_t steps_ = 0;
};

/// The threads of each processor that has some.
Groups on_processors(const std::vector<std::uint32_t>& home) {
    std::map<std::uint32_t, std::vector<Rank>> threads;
    for (Rank thread = 0; thread < home.size(); ++thread) threads[home[thread]].push_back(thread);
    Groups groups;
    for (auto& [processor, of_it] : threads) groups.push_back(std::move(of_it));
    return groups;
}

const std::map<std::string, std::string> names_of_paper{
    {"centralized", "turnstile"}, {"tree", "mcs:4,2"}, {"combination", "turnstile/mcs:4,2"}};

}  // namespace

std::unique_ptr<Meeting> make_meeting(const std::string& barrier, const std::vector<std::uint32_t>& home) {
    const auto of_paper = names_of_paper.find(barrier);
    const std::string& spelling = of_paper == names_of_paper.end() ? barrier : of_paper->second;
    try {
        Plan plan = make_plan(spelling, on_processors(home));
        if (const std::string_view other = runs_on(spelling); !other.empty())
            throw std::invalid_argument("'" + spelling + "' is for " + std::string(other) +
                                        ", not for threads on processors");
        return std::make_unique<Planned>(plan);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("the barrier is centralized, tree, combination or a plan; as a plan: " +
                                    std::string(error.what()));
    }
}

}  // namespace tollbar::scheduler
