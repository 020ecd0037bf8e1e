// SPDX-License-Identifier: Apache-2.0
// How a rank waits for a word or a message without starving the MPI, the other ranks of its CPU, or itself.
#include "course.hpp"

#include <algorithm>
#include <ctime>
#include <thread>

namespace tollbar {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::uint32_t polls_a_turn = 128;

/// Looks at a message in vain before the rank naps. One message between hosts takes 10 to 100 us.
constexpr auto worth_polling_a_message = 2ms;

/// A nap is a small part of what was waited already: who waits for long costs little CPU (a look takes about 10 us),
/// who waits shortly is not late. Whoever sleeps on a word, or for the card, is woken at once; the nap only bounds how
/// long the MPI gets no turn.
Clock::duration nap_after(Clock::duration waited) { return std::clamp<Clock::duration>(waited / 32, 200us, 4ms); }

std::vector<CourseStep> with_ends_of_sends(std::vector<CourseStep> steps) {
    const std::size_t count = steps.size();
    for (std::size_t i = 0; i < count; ++i)
        if (steps[i].by == CourseStep::By::message && steps[i].sends) {
            steps.push_back(steps[i]);
            steps.back().by = CourseStep::By::gone_out;
        }
    return steps;
}

template <class Deadline>
struct Sooner {
    tollbar::Deadline nap;
    Deadline deadline;

    tollbar::Deadline earlier() const noexcept {
        if constexpr (std::is_same_v<Deadline, Never>) {
            return nap;
        } else {
            return {std::min(nap.at, deadline.at)};
        }
    }
};

}  // namespace

Course::Course(const tollbar_carrier& carrier, std::vector<CourseStep> steps, CourseWaiting waiting)
    : carrier_(carrier), steps_(with_ends_of_sends(std::move(steps))), waiting_(waiting), next_(steps_.size()),
      receives_(std::ranges::any_of(
          steps_, [](const CourseStep& step) { return step.by == CourseStep::By::message && !step.sends; })) {}

Course::~Course() {
    for (const CourseStep& step : steps_)
        if (step.by == CourseStep::By::message) carrier_.close(carrier_.state, step.channel);
}

void Course::post_receives() noexcept {
    for (const CourseStep& step : steps_)
        if (step.by == CourseStep::By::message && !step.sends) carrier_.start(carrier_.state, step.channel);
}

bool Course::take_message(const CourseStep& step) noexcept {
    if (carrier_.done(carrier_.state, step.channel) == 0) return false;  // a send: the one of the episode before
    if (step.sends) carrier_.start(carrier_.state, step.channel);
    return true;
}

bool Course::take_from_afar(const CourseStep& step) noexcept {
    switch (step.by) {
        case CourseStep::By::card: return take_card(step);
        case CourseStep::By::gone_out: return carrier_.done(carrier_.state, step.channel) != 0;
        default: return take_message(step);
    }
}

bool Course::take_card(const CourseStep& step) noexcept {
    if (lost_) return false;
    const NodeCard::State state = !step.sends           ? step.card->test()
                                  : step.card->arrive() ? NodeCard::State::over
                                                        : NodeCard::State::gone;
    if (state == NodeCard::State::gone) lose();
    return state == NodeCard::State::over;
}

/// Memory order: release, pairs with lost() of the other ranks of the node.
void Course::lose() noexcept {
    lost_ = true;
    if (waiting_.lost != nullptr) waiting_.lost->store(true, std::memory_order_release);
}

template <class Deadline>
void Course::pass_time(std::uint32_t turn, Since& since, Deadline deadline) noexcept {
    constexpr std::uint32_t turns_between_progress = 8;
    const CourseStep& step = steps_[next_];
    const Patience patience = patience_for<NativeSync>(waiting_.policy, crowding());

    if (step.by == CourseStep::By::message || step.by == CourseStep::By::gone_out) {
        carrier_.progress(carrier_.state);
        if (patience.spins == Patience::for_ever) return;
        if (patience.spins == 0) NativeSync::yield();
        const auto waited = since.waited();
        if (patience.yields != Patience::for_ever && waited > worth_polling_a_message)
            std::this_thread::sleep_for(nap_after(waited));
        return;
    }

    if (step.by == CourseStep::By::card) {
        // It has its own way to wait; the nap only gives the MPI its turns.
        carrier_.progress(carrier_.state);
        const Sooner<Deadline> until{{Clock::now() + nap_after(since.waited())}, deadline};
        step.card->wait_until(until.earlier());
        return;
    }

    const WiredStep<NativeSync>& wired = step.wired;
    const std::uint32_t spinning_turns = patience.spins == Patience::for_ever
                                             ? patience.spins
                                             : (patience.spins + polls_a_turn - 1) / polls_a_turn;
    if (turn < spinning_turns) {
        for (std::uint32_t poll = 0; poll < polls_a_turn; ++poll, NativeSync::pause())
            if (wired.met(episode_)) return;
        if (turn % turns_between_progress == turns_between_progress - 1) carrier_.progress(carrier_.state);
        return;
    }
    const std::uint32_t yields = turn - spinning_turns;
    if (yields < patience.yields || patience.yields == Patience::for_ever) {
        // Most waits end here: the MPI gets its turn before the first nap, a few microseconds later. A policy that
        // never naps gives it one turn in so many.
        if (yields % bounded_yields == bounded_yields - 1) carrier_.progress(carrier_.state);
        NativeSync::yield();
        return;
    }
    carrier_.progress(carrier_.state);
    const Sooner<Deadline> until{{Clock::now() + nap_after(since.waited())}, deadline};
    park(*wired.word, episode_ * wired.share, *wired.bell, waiting_.ringing, until.earlier());
}

template <class Deadline>
bool Course::wait_for_rest(Deadline deadline) noexcept {
    if (const CourseStep& step = steps_[next_];
        step.by == CourseStep::By::word && crowding() == Crowding::roomy && waiting_.policy == wait_policy::automatic) {
        // With a CPU for everybody most waits are over before a clock would have been read.
        for (std::uint32_t poll = 0; poll < polls_a_turn && !step.wired.met(episode_); ++poll) NativeSync::pause();
        if (advance()) return true;
    }
    Since since;
    std::size_t at = next_;
    for (std::uint32_t turn = 0;; ++turn) {
        pass_time(turn, since, deadline);
        if (advance()) return true;
        if (lost()) return advance();
        if (next_ != at) {
            at = next_;
            turn = 0;
        }
        if (deadline.passed()) return advance();
    }
}

template bool Course::wait_for_rest(Never) noexcept;
template bool Course::wait_for_rest(Deadline) noexcept;

}  // namespace tollbar
