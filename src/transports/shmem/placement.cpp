// SPDX-License-Identifier: Apache-2.0
// Each member of a plan has slots at a PE: a rank at its own, a role at the PE of its first member, which plays it. A
// role that only gathers and releases is a counter there, but no release, because others cannot poll a remote word
// cheaply: the PE that counts last signals the others by their slots.
#include "placement.hpp"

#include "plan/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tollbar::detail::shmem {

namespace {

using Kind = Step::Kind;

class Placing {
public:
    explicit Placing(const Plan& plan) : plan_(plan), lowering_(plan, Player::first) {}

    std::vector<Step> steps(Rank self);

    /// The rank whose PE has the slots of `member`, and the counter of a role.
    Rank home(Rank member) { return lowering_.first_player(member); }

    /// Whether a role only gathers and releases.
    bool only_counts(Rank member) { return is_role(member) && lowering_.only_counts(member); }

    /// The slots of a member's own.
    std::uint32_t slots(Rank member) { return only_counts(member) ? 0 : awaits(plan_.program(member)); }

private:
    static std::uint32_t awaits(const Program& word) {
        return static_cast<std::uint32_t>(std::ranges::count_if(word, is_await));
    }

    /// The slot by which `member` awaits `peer`.
    std::uint32_t slot(Rank member, Rank peer) {
        const Program word = plan_.program(member);
        std::uint32_t before = awaits({word.begin(), std::ranges::find(word, await(peer))});
        if (is_role(member)) before += slots(home(member));
        for (Rank other = role(0); other < member; ++other)
            if (home(other) == home(member)) before += slots(other);
        return before;
    }

    void add(Step step) {
        step.done = done_;
        steps_.push_back(step);
    }

    void send(Rank to, Rank from) { add({.kind = Kind::signal, .peer = home(to), .slot = slot(to, from)}); }
    void expect(Rank to, Rank from) { add({.kind = Kind::await, .peer = from, .slot = slot(to, from)}); }

    void signal_others(Rank self, Rank role) {
        for (const Rank member : lowering_.members(role))
            if (home(member) != self) send(member, role);
    }

    void meet_at(Rank self, Rank role, Rank member) {
        const std::size_t met = steps_.size();
        const auto share = static_cast<std::uint32_t>(lowering_.members(role).size());
        add({.kind = Kind::meet, .peer = home(role), .share = share});
        signal_others(self, role);
        add({.kind = Kind::flush, .skip = 1});  // the last has nobody to hear
        steps_[met].skip = static_cast<std::uint32_t>(steps_.size() - met - 1);
        expect(member, role);
    }

    const Plan& plan_;
    Lowering lowering_;
    std::uint32_t done_ = 0;
    std::vector<Step> steps_;
};

std::vector<Step> Placing::steps(Rank self) {
    for (const Operation& step : lowering_.operations(self)) {
        using enum Operation::Kind;
        const Rank role = step.role;
        done_ = step.done;
        switch (step.kind) {
            case signal: send(step.to, step.from); break;
            case await: expect(step.to, step.from); break;
            case count: only_counts(role) ? meet_at(self, role, step.from) : send(role, step.from); break;
            case counted:
                for (const Rank member : lowering_.members(role))
                    if (!only_counts(role) && home(member) != self) expect(role, member);
                break;
            case release: signal_others(self, role); break;
            case released: expect(step.from, role); break;
            case meet: break;  // nobody's, where the first member plays
        }
    }
    return std::move(steps_);
}

}  // namespace

std::vector<Step> steps_of(const Plan& plan, Rank self) { return Placing(plan).steps(self); }

std::uint32_t slots_of(const Plan& plan) {
    Placing placing(plan);
    std::vector<std::uint32_t> needed(plan.ranks()), counted(plan.ranks());
    for (Rank index = 0; index < plan.members(); ++index) {
        const Rank member = plan.member_at(index);
        needed[placing.home(member)] += placing.slots(member);
        if (placing.only_counts(member) && counted[placing.home(member)]++ != 0)
            throw std::invalid_argument("plan '" + plan.name() + "': rank " + std::to_string(placing.home(member)) +
                                        " has two counters");
    }
    return std::ranges::max(needed);
}

bool is_one_shot(const std::vector<Step>& steps) noexcept {
    const auto is_for_others = [](const Step& step) { return step.kind == Kind::signal || step.kind == Kind::meet; };
    return std::none_of(std::ranges::find(steps, Kind::await, &Step::kind), steps.end(), is_for_others);
}

}  // namespace tollbar::detail::shmem
