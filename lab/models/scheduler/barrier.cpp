// SPDX-License-Identifier: Apache-2.0
// The barriers of Markatos et al. 1991, section 3.3, and all others: plans, whose roles the last to come plays.
#include "barrier.hpp"

#include <tollbar/algorithms.hpp>

#include <map>
#include <stdexcept>
#include <utility>

namespace tollbar::scheduler {

namespace {

constexpr Word no_word = ~Word{0};

}  // namespace

Barrier::Barrier(const Plan& plan, Access access)
    : access_(access), schedule_(lower(plan, Player::last)), knows_(plan.ranks()) {}

Barrier::Advance Barrier::advance(Rank thread, bool accessed) {
    Advance step{};
    while (!cursor_.finished(thread) && cursor_.set_met(thread)) {
        const Word word = cursor_.is_at_await(thread) && knows_[thread] ? no_word : polls(thread);
        if (access_ == Access::counted && word != no_word && !std::exchange(accessed, false)) {
            step.access = word;
            break;
        }
        take_step(thread);
        step.moved = true;
    }
    step.through = cursor_.finished(thread);
    return step;
}

Word Barrier::polls(Rank thread) const {
    const Index next = cursor_.next(thread);
    const Operation& operation = schedule_.operations[next];
    if (next > schedule_.first[thread]) {
        // A full counter is read in one test with the awaits after those of members. A release leaves with signals.
        const Kind before = schedule_.operations[next - 1].kind;
        if (operation.kind == Kind::await && operation.position > 0 && before == Kind::meet) return no_word;
        if (operation.kind == Kind::release && before == Kind::signal) return no_word;
    }
    return operation.is_of_channel() ? Word{operation.to} : Word{1} << 32 | operation.role;
}

void Barrier::take_step(Rank thread) {
    knows_[thread] = false;
    if (cursor_.is_at_await(thread)) {
        cursor_.pass_awaits(thread);
        return;
    }
    const Operation& operation = schedule_.operations[cursor_.next(thread)];
    const bool last = cursor_.come(operation.cell) == cursor_.episode(thread) * operation.share;
    cursor_.go_on(thread, operation.kind == Kind::meet && !last ? operation.skip + 1 : 1);
    knows_[thread] = last && operation.kind != Kind::meet && !operation.is_of_channel();
}

namespace {

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

Plan make_barrier(const std::string& barrier, const std::vector<std::uint32_t>& home) {
    const auto of_paper = names_of_paper.find(barrier);
    const std::string& spelling = of_paper == names_of_paper.end() ? barrier : of_paper->second;
    try {
        Plan plan = make_plan(spelling, on_processors(home));
        if (const std::string_view other = runs_on(spelling); !other.empty())
            throw std::invalid_argument("'" + spelling + "' is for " + std::string(other) +
                                        ", not for threads on processors");
        return plan;
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("the barrier is centralized, tree, combination or a plan; as a plan: " +
                                    std::string(error.what()));
    }
}

}  // namespace tollbar::scheduler
