// SPDX-License-Identifier: Apache-2.0
// Puts the barrier of the ranks in the middle of the threads' plan, and has each thread run its part.
#include "team.hpp"

#include "algorithms/defaults.hpp"
#include "algorithms/processors.hpp"
#include "base/environment.hpp"
#include "missing/reporting.hpp"
#include "missing/sentence.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tollbar::detail::hybrid {

namespace {

using mpi::Composite;

/// A plan for one rank more: everybody runs `inner` to its end, then thread 0 plays a role that meets that rank and
/// releases the other threads.
Plan then_outside(const Plan& inner) {
    const Rank threads = inner.ranks();
    const Rank releasing = role(inner.roles());
    const auto word = [=](Rank self) {
        if (self == threads) return Program{signal(releasing), await(releasing)};
        Program program;
        if (self == releasing) {
            program = {await(0), signal(threads), await(threads)};
            for (Rank thread = threads; thread-- > 0;) program.push_back(signal(thread));
            return program;
        }
        program = inner.program(self);
        if (self == 0) program.push_back(signal(releasing));
        if (!is_role(self)) program.push_back(await(releasing));
        return program;
    };
    return {inner.name(), threads + 1, word, inner.roles() + 1};
}

std::vector<Rank> up_to(Rank count) {
    std::vector<Rank> ranks(count);
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

}  // namespace

TeamPlan team_plan(std::string_view spelling, Rank threads, Messenger allowed) {
    const std::string placed = on_processors(spelling, threads, masked_cpus());
    const Plan inner = make_plan(placed, threads);
    const std::optional<Rank> turning = turning_member(inner);
    const Family family = [&](Rank ranks) { return make_plan(placed, ranks); };
    const bool last = allowed == Messenger::last_to_arrive;
    return {.plan = turning ? combine(threads + 1, family, threads, make_plan(defaults::with_outside, 2))
                            : then_outside(inner),
            .player = last ? Player::last : Player::first,
            .messenger = last && turning && is_role(*turning) ? Messenger::last_to_arrive : Messenger::first_thread};
}

void ThreadParticipant::open() {
    const Segment& segment = team_.segment_;
    steps_ = team_.schedule_.steps(thread_, segment.steps(thread_), nullptr, this);
    if (thread_ == 0 && team_.threads() > 1 && team_.messenger() == Messenger::first_thread)
        progress_.emplace(*team_.ranks_.p2p, segment.wait(), team_.occupancy_);
    const Composite::Parts parts{.words = {segment.wait(), segment.waking(), team_.occupancy_},
                                 .messages = progress_ ? &*progress_ : nullptr,
                                 .outer = this};
    runner_ = {steps_.data(), static_cast<std::uint32_t>(steps_.size()), 0, Composite(parts)};
}

void ThreadParticipant::join() {
    team_.segment_.take_rank(thread_);
    arrived_ = &team_.segment_.record(thread_).arrived;
}

void ThreadParticipant::begin(const void* call_site) noexcept {
    call_site_ = call_site;
    inside_ = true;
    blocks_ = false;
    outside_ = false;
    runner_.start();
    arrived_->store(runner_.episode(), std::memory_order_relaxed);  // for reports, which order nothing
}

void ThreadParticipant::enter(const void* call_site) noexcept {
    begin(call_site);
    runner_.advance();
}

bool ThreadParticipant::advance() noexcept {
    if (!runner_.advance() && steps_[runner_.steps_done()].by == Composite::Step::By::outer_end)
        team_.ranks_.p2p->progress(team_.ranks_.p2p->state);
    inside_ = !runner_.advance();
    return !inside_;
}

void ThreadParticipant::finish() noexcept {
    inside_ = false;
    blocks_ = true;
    wait_reporting(
        team_.timeout_, [this](auto deadline) { return runner_.finish(deadline); },
        [this](auto waited) { return team_.report(thread_, runner_.episode(), waited), true; });
}

bool ThreadParticipant::finish_until(Deadline deadline) noexcept {
    waited_.begin(runner_.episode());
    timed_ = true;
    inside_ = !runner_.finish(deadline);
    timed_ = false;
    return !inside_;
}

std::vector<tollbar_missing> ThreadParticipant::missing() const {
    std::vector<tollbar_missing> list;
    if (runner_.finished()) return list;
    const std::int64_t waited_ns = waited_.ns(runner_.episode());
    for (const absent& one : team_.segment_.missing(runner_.episode())) {
        list.push_back(missing::shared_member(one, waited_ns));
        list.back().rank = team_.ranks_.p2p->rank;
        list.back().thread_number = static_cast<std::int32_t>(one.rank);
    }
    if (!list.empty() || !outside_) return list;
    const tollbar_mpi_participant* const ranks = team_.ranks_.participant;
    list.resize(tollbar_mpi_list_missing(ranks, nullptr, 0));
    list.resize(std::min(list.size(), tollbar_mpi_list_missing(ranks, list.data(), list.size())));
    for (tollbar_missing& one : list) one.waited_ns = waited_ns;
    return list;
}

/// Memory order: none of its own; the words that release the threads say it to them.
int ThreadParticipant::failed() const noexcept {
    const Episode from = team_.fails_from_.load(std::memory_order_relaxed);
    return from != 0 && runner_.episode() >= from ? team_.failure_.load(std::memory_order_relaxed) : 0;
}

/// A failed episode is over as well: the other threads have to be released.
mpi::OuterBarrier::State ThreadParticipant::ended(int error) noexcept {
    if (error != 0 && team_.fails_from_.load(std::memory_order_relaxed) == 0) {
        team_.failure_.store(error, std::memory_order_relaxed);
        team_.fails_from_.store(runner_.episode(), std::memory_order_relaxed);
    }
    return State::over;
}

mpi::OuterBarrier::State ThreadParticipant::arrive() noexcept {
    team_.ranks_.meanwhile();
    outside_ = true;
    if (blocks_) return ended(tollbar_mpi_arrive_and_wait(team_.ranks_.participant, call_site_));
    tollbar_mpi_arrive(team_.ranks_.participant, call_site_);
    return State::under_way;
}

mpi::OuterBarrier::State ThreadParticipant::test() noexcept {
    tollbar_mpi_participant* const ranks = team_.ranks_.participant;
    if (tollbar_mpi_test(ranks, runner_.episode()) == 0) return State::under_way;
    return ended(tollbar_mpi_failed(ranks, runner_.episode()));
}

/// Waits until the end, but in finish_until(): the ranks have their own way to wait, and report by themselves.
mpi::OuterBarrier::State ThreadParticipant::wait_until(Deadline deadline) noexcept {
    tollbar_mpi_participant* const ranks = team_.ranks_.participant;
    if (!timed_) return ended(tollbar_mpi_wait(ranks, runner_.episode()));
    const std::chrono::duration<double> left = deadline.at - std::chrono::steady_clock::now();
    tollbar_mpi_wait_for(ranks, runner_.episode(), left.count());
    return test();
}

RankThreads::RankThreads(std::string_view spelling, Rank threads, Messenger allowed)
    : plan_(team_plan(spelling, threads, allowed)), schedule_(plan_.plan, plan_.player, up_to(threads)),
      segment_({.layout = schedule_.layout(roles_are_processors(spelling) ? RolesAre::processors : RolesAre::groups),
                .plan = std::string(spelling),
                .ranks = threads,
                .wait = environment::wait(),
                .scope = Scope::process}) {
    for (Rank thread = 0; thread < threads; ++thread)
        threads_.push_back(std::make_unique<ThreadParticipant>(*this, thread));
}

void RankThreads::open(Ranks ranks, std::string name, std::optional<std::chrono::duration<double>> timeout) {
    ranks_ = std::move(ranks);
    name_ = std::move(name);
    timeout_ = timeout;
    for (const auto& thread : threads_) thread->open();
}

std::vector<Standing> RankThreads::standings() const {
    std::vector<Standing> all;
    for (Rank thread = 0; thread < threads(); ++thread) all.push_back(segment_.record(thread).standing.get());
    return all;
}

void RankThreads::report(Rank waiting, Episode episode, std::chrono::duration<double> waited) const {
    // One line a rank: from its lowest thread that has arrived. Once all have, the messenger reports the ranks.
    for (Rank thread = 0; thread < waiting; ++thread)
        if (segment_.record(thread).arrived.load(std::memory_order_relaxed) >= episode) return;
    std::vector<missing::Member> members = missing::members_of(segment_.missing(episode));
    if (members.empty()) return;
    for (missing::Member& member : members) member.kind = "thread";
    missing::report({.about = name_ + ", barrier " + std::to_string(episode),
                     .waiter = "thread " + std::to_string(waiting),
                     .waited_s = waited.count(),
                     .clauses = missing::clauses_of(std::move(members))});
}

}  // namespace tollbar::detail::hybrid
