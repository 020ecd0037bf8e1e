// SPDX-License-Identifier: Apache-2.0
// One thread's way through an episode: inside, perhaps outside, inside again.
#include "crew.hpp"

#include <tollbar/environment.hpp>

#include <algorithm>
#include <cstdio>

namespace tollbar::hybrid {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

}  // namespace

Member::Member(Crew& crew, Rank thread)
    : crew_(crew), steps_(crew.segment_.wire(thread)), arrived_(&crew.segment_.seat(thread).arrived), thread_(thread) {}

void Member::sit_down() {
    crew_.segment_.take_seat(thread_);
    sits_ = true;
}

void Member::run(std::uint32_t first, std::uint32_t last) noexcept {
    runner_ = Runner<NativeSync>(steps_.data() + first, last - first, episode_ - 1, crew_.segment_.wait(),
                                 crew_.segment_.ringing(), crew_.crowding_);
    runner_.start();
}

void Member::enter(const void* call_site) noexcept {
    call_site_ = call_site;
    ++episode_;
    arrived_->store(episode_, std::memory_order_relaxed);  // for reports, which order nothing
    if (crew_.messenger() == Messenger::last_to_arrive) {
        meet();
    } else {
        gather();
    }
}

void Member::enter_and_finish(const void* call_site) noexcept {
    if (!steps_.empty()) {
        enter(call_site);
        finish();
        return;
    }
    // Nobody else is in this rank: the plain barrier of the ranks.
    ++episode_;
    crew_.outside_->arrive_and_wait(call_site);
    come_back();
}

/// Memory order: release for the messenger, acquire of all who came before if this is the messenger; and
/// sequentially consistent, as the messenger's second add has to be, which wakes the sleepers.
void Member::meet() noexcept {
    const WiredStep<NativeSync>& step = steps_.front();
    const std::uint64_t arrivals = step.word->fetch_add(1, std::memory_order_seq_cst) + 1;
    goes_outside_ = arrivals == episode_ * step.share - 1;
    if (goes_outside_) {
        go_outside();
    } else {
        release();
    }
}

void Member::gather() noexcept {
    goes_outside_ = thread_ == 0;
    if (!goes_outside_) {
        release();
        runner_.advance();
        return;
    }
    run(0, crew_.inside_.gather_steps);
    stage_ = Stage::gathering;
    if (runner_.advance()) go_outside();
}

void Member::go_outside() noexcept {
    stage_ = Stage::outside;
    crew_.outside_->arrive(call_site_);
}

/// Memory order: none of its own; the words that release the others say it to them.
void Member::come_back() noexcept {
    if (crew_.fails_from_.load(std::memory_order_relaxed) == 0 && crew_.outside_->failed())
        crew_.fails_from_.store(episode_, std::memory_order_relaxed);
}

bool Member::failed() const noexcept {
    const Episode from = crew_.fails_from_.load(std::memory_order_relaxed);
    return from != 0 && episode_ >= from;
}

/// What is left of the program. Those who do not go outside never stopped in the middle of theirs.
void Member::release() noexcept {
    std::uint32_t first = 0;
    if (crew_.messenger() == Messenger::last_to_arrive) {
        first = goes_outside_ ? 1 : 2;
    } else if (goes_outside_) {
        first = crew_.inside_.gather_steps;
    }
    run(first, static_cast<std::uint32_t>(steps_.size()));
    stage_ = Stage::releasing;
}

bool Member::advance() noexcept {
    if (stage_ == Stage::gathering && runner_.advance()) go_outside();
    if (stage_ == Stage::outside && crew_.outside_->test()) {
        come_back();
        release();
    }
    if (stage_ == Stage::releasing && runner_.advance()) stage_ = Stage::idle;
    return stage_ == Stage::idle;
}

/// In between the messenger lets the MPI go on, and everybody looks at the time if somebody wants reports.
void Member::finish_run() noexcept {
    const auto& timeout = crew_.timeout_;
    if (!goes_outside_ && !timeout) {
        runner_.finish(Never{});
        return;
    }
    const auto since = Clock::now();
    auto reported = since;
    for (Clock::duration nap = 50us;; nap = std::min<Clock::duration>(2 * nap, 4ms)) {
        if (runner_.finish(goes_outside_ ? deadline_after(nap) : deadline_after(*timeout))) return;
        if (goes_outside_) crew_.outside_->progress();
        if (!timeout || Clock::now() - reported < *timeout) continue;
        reported = Clock::now();
        crew_.report(thread_, episode_, reported - since);
    }
}

void Member::finish() noexcept {
    if (stage_ == Stage::gathering) {
        finish_run();
        go_outside();
    }
    if (stage_ == Stage::outside) {
        crew_.outside_->wait();
        come_back();
        release();
    }
    if (!runner_.advance()) finish_run();
    stage_ = Stage::idle;
}

Crew::Crew(std::string_view spelling, Rank threads, Messenger may_go)
    : inside_(lay_out_inside(spelling, threads, may_go, usable_cpus())),
      segment_({.layout = inside_.layout,
                .plan = std::string(spelling),
                .ranks = threads,
                .wait = wait_policy_from_environment(),
                .scope = Scope::process}) {
    for (Rank thread = 0; thread < threads; ++thread) members_.push_back(std::make_unique<Member>(*this, thread));
}

void Crew::open(Outside outside, std::string name, std::optional<std::chrono::duration<double>> timeout) {
    outside_.emplace(std::move(outside));
    name_ = std::move(name);
    timeout_ = timeout;
}

std::vector<Standing> Crew::standings() const {
    std::vector<Standing> all;
    for (Rank thread = 0; thread < threads(); ++thread) all.push_back(segment_.seat(thread).standing.get());
    return all;
}

void Crew::report(Rank waiting, Episode episode, std::chrono::duration<double> waited) const noexcept {
    try {
        // One line a rank: from its lowest thread that has arrived. Once all have, the messenger reports the ranks.
        for (Rank thread = 0; thread < waiting; ++thread)
            if (segment_.seat(thread).arrived.load(std::memory_order_relaxed) >= episode) return;
        std::string line;
        for (const absent& one : segment_.missing(episode)) {
            line += (line.empty() ? "thread " : ", thread ") + std::to_string(one.rank);
            if (one.thread != 0) line += " (system's number " + std::to_string(one.thread) + ")";
        }
        if (line.empty()) return;
        std::fprintf(stderr, "tollbar: %s, barrier %llu: thread %u has waited %.1f s, not arrived: %s\n", name_.c_str(),
                     static_cast<unsigned long long>(episode), static_cast<unsigned>(waiting), waited.count(),
                     line.c_str());
    } catch (const std::exception&) {  // no memory for the report: go on waiting, that matters more
    }
}

}  // namespace tollbar::hybrid
