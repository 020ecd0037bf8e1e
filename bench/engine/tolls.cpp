// SPDX-License-Identifier: Apache-2.0
// How ranks are late, and what is said of those who left early or cannot leave.
#include "tolls.hpp"

#include "launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include <sched.h>
#include <unistd.h>

namespace tollbar::bench {

namespace {

void append(std::string& list, Rank rank) {
    if (!list.empty()) list += ',';
    list += std::to_string(rank);
}

/// Every barrier of the roster once, in its order.
class Checks {
public:
    Checks(const Launch& launch, Crew& crew) : asked_(launch.options.tolls), pace_(launch.pace), crew_(crew) {
        pace_.stamped = pace_.isolated = 1;
    }

    void check(Candidate& one) {
        const Label& label = one.label();
        const TollVisit tolls{asked_, [&](const Early& early) { end(label, early); },
                              [&](const Stuck& stuck) { end(label, stuck); }};
        const std::unique_ptr<Visit> visit = crew_.visit(pace_, 1);
        visit->checked = &tolls;
        const Ticks began = ticks();
        one.receive(crew_, *visit);
        if (!crew_.is_first()) return;
        Record<"toll">(label, 0)
            .field("ranks", crew_.ranks())
            .field("episodes", asked_.episodes)
            .field("late", asked_.late)
            .field("elapsed_ns", nanoseconds(ticks() - began))
            .print();
    }

private:
    static void end(const Label& label, const Early& early) {
        Record<"violation">(label, 0)
            .field("episode", early.episode)
            .field("left", early.left)
            .field("missing", early.missing)
            .print();
        end();
    }

    static void end(const Label& label, const Stuck& stuck) {
        Record<"stuck">(label, 0)
            .field("episode", stuck.episode)
            .field("waiting", stuck.waiting)
            .field("missing", stuck.missing)
            .print();
        end();
    }

    /// Not by exit(): other ranks are inside a barrier that is none. A launcher that is told at once may lose the last
    /// line, hence the pause.
    [[noreturn]] static void end() {
        constexpr useconds_t until_read = 200'000;
        usleep(until_read);
        std::_Exit(1);
    }

    const Tolls& asked_;
    Pace pace_;
    Crew& crew_;
};

}  // namespace

void TollBoard::note(const Early& early) const noexcept {
    if (found().taken.exchange(1, std::memory_order_relaxed) == 0) {
        found().early = early;
        found().ready.store(1, std::memory_order_release);  // pairs with noted()
    }
    for (;;) pause();
}

std::optional<Early> TollBoard::noted() const noexcept {
    if (found().ready.load(std::memory_order_acquire) == 0) return std::nullopt;  // pairs with note()
    return found().early;
}

std::uint64_t TollBoard::progress() const noexcept {
    std::uint64_t sum = 0;
    for (Rank rank = 0; rank < ranks_; ++rank)
        sum += tollbar_toll_entered(tolls(), rank) + tollbar_toll_left(tolls(), rank);
    return sum;
}

Stuck TollBoard::stuck() const {
    std::uint64_t episode = std::numeric_limits<std::uint64_t>::max();
    for (Rank rank = 0; rank < ranks_; ++rank) episode = std::min(episode, tollbar_toll_left(tolls(), rank) + 1);
    Stuck stuck{.episode = episode, .waiting = {}, .missing = {}};
    for (Rank rank = 0; rank < ranks_; ++rank)
        if (tollbar_toll_entered(tolls(), rank) < episode)
            append(stuck.missing, rank);
        else if (tollbar_toll_left(tolls(), rank) < episode)
            append(stuck.waiting, rank);
    return stuck;
}

TollWatch::TollWatch(const TollBoard& board, const TollVisit& visit)
    : board_(board), visit_(visit), thread_([this] { watch(); }) {}

TollWatch::~TollWatch() {
    {
        const std::scoped_lock lock(mutex_);
        done_ = true;
    }
    over_.notify_all();
    thread_.join();
}

void TollWatch::watch() {
    using namespace std::chrono;
    std::uint64_t seen = board_.progress();
    auto since = steady_clock::now();
    std::unique_lock lock(mutex_);
    while (!over_.wait_for(lock, milliseconds(20), [&] { return done_; })) {
        if (const std::optional<Early> early = board_.noted()) visit_.early(*early);
        const std::uint64_t now = board_.progress();
        if (std::exchange(seen, now) != now)
            since = steady_clock::now();
        else if (duration<double, std::nano>(steady_clock::now() - since).count() > visit_.asked.limit_ns)
            visit_.stuck(board_.stuck());
    }
}

void be_late(const TollBoard& board, std::uint64_t episode, Rank rank) {
    constexpr double patience_ns = 20e3;
    for (int looks = 0; tollbar_toll_is_last(board.tolls(), board.ranks(), rank, episode) == 0; ++looks)
        looks < 16 ? sched_yield() : usleep(1);  // asleep it does not compete with those it waits for
    const Ticks began = ticks();
    do {
        sched_yield();
        const Rank early = tollbar_toll_early(board.tolls(), board.ranks(), rank, episode);
        if (early != board.ranks()) board.note({.episode = episode, .left = early, .missing = rank});
    } while (nanoseconds(ticks() - began) < patience_ns);
}

int check_roster(const Launch& launch, Crew& crew, Roster& roster) {
    for (const Skipped& one : roster.skipped) print_skipped(one.name, one.why);
    const Ticks began = ticks();
    Checks checks(launch, crew);
    for (const auto& one : roster.candidates) {
        const Label& label = one->label();
        if (is_lost(label, launch.crowded()))
            print_skipped(label.name, "it never gives its CPU away and there are more ranks than CPUs", label.wait);
        else
            checks.check(*one);
    }
    if (crew.is_first()) print_done(1, nanoseconds(ticks() - began));
    return 0;
}

}  // namespace tollbar::bench
