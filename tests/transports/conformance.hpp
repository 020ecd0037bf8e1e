// SPDX-License-Identifier: Apache-2.0
// The properties every transport must have, checked from outside through a Harness: N ranks that do as they are
// told, one call at a time. Returning is not passing: a barrier that does nothing gets complaints.
#pragma once

#include "board.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tollbar::testing {

/// What a rank says after a call.
struct Answer {
    bool done;                  ///< what test or a timed wait returned; true for the others
    std::vector<Rank> missing;  ///< after Call::missing and a timed wait that was in vain
};

/// All ranks of one group on one transport. The ranks pay and check tolls themselves.
class Harness {
public:
    Harness() = default;
    Harness(const Harness&) = delete;
    Harness& operator=(const Harness&) = delete;
    virtual ~Harness() = default;

    virtual Rank ranks() const = 0;

    /// Has a rank begin a call; returns at once. The rank's call before has ended.
    virtual void begin(Rank rank, Call call, std::uint64_t argument = 0) = 0;

    /// Whether the call has returned.
    virtual bool ended(Rank rank) = 0;

    /// Waits until it has.
    virtual Answer end(Rank rank) = 0;

    /// All ranks run so many episodes on their own.
    virtual void run(FreeRun how) = 0;

    /// How often a rank found a toll unpaid, or another rank gone early, so far.
    virtual std::uint64_t unpaid() const = 0;

    /// Whether Call::missing names exactly those who have not arrived.
    virtual bool names_exactly() const { return true; }

    Answer call(Rank rank, Call call, std::uint64_t argument = 0) {
        begin(rank, call, argument);
        return end(rank);
    }
};

/// One episode after the other, with somebody late: the toll check step by step.
class Toll {
public:
    explicit Toll(Harness& harness) : harness_(harness), stage_(harness.ranks(), Stage::outside) {}

    void all_arrive_except(Rank late) {
        for (Rank rank = 0; rank < harness_.ranks(); ++rank)
            if (rank != late) harness_.begin(rank, Call::arrive);
        for (Rank rank = 0; rank < harness_.ranks(); ++rank) {
            if (rank == late) continue;
            harness_.end(rank);
            stage_[rank] = Stage::inside;
        }
    }

    void arrive(Rank late) {
        harness_.call(late, Call::arrive);
        stage_[late] = Stage::inside;
    }

    /// How many have left. While somebody has not arrived everybody only looks; afterwards all wait, and the
    /// episode is over.
    std::size_t left() {
        if (!contains(Stage::outside)) return all_wait();
        for (Rank rank = 0; rank < harness_.ranks(); ++rank)
            if (stage_[rank] == Stage::inside && harness_.call(rank, Call::test).done) stage_[rank] = Stage::left;
        return count(Stage::left);
    }

    /// How many leave when everybody waits `ms` milliseconds; `named` says whom the others name as missing.
    std::size_t left_within(std::uint64_t ms, std::vector<std::vector<Rank>>& named) {
        for (const Rank rank : inside()) harness_.begin(rank, Call::timed_wait, ms);
        for (const Rank rank : inside()) {
            const Answer answer = harness_.end(rank);
            if (answer.done)
                stage_[rank] = Stage::left;
            else
                named.push_back(answer.missing);
        }
        return count(Stage::left);
    }

    /// Whom the lowest rank that is still inside names.
    std::vector<Rank> missing() {
        const auto waiting = inside();
        return waiting.empty() ? std::vector<Rank>() : harness_.call(waiting.front(), Call::missing).missing;
    }

private:
    enum class Stage : std::uint8_t { outside, inside, left };

    std::size_t all_wait() {
        for (const Rank rank : inside()) harness_.begin(rank, Call::wait);
        for (const Rank rank : inside()) harness_.end(rank);
        stage_.assign(stage_.size(), Stage::outside);
        return stage_.size();
    }

    std::vector<Rank> inside() const {
        std::vector<Rank> ranks;
        for (Rank rank = 0; rank < stage_.size(); ++rank)
            if (stage_[rank] == Stage::inside) ranks.push_back(rank);
        return ranks;
    }

    bool contains(Stage stage) const { return std::ranges::find(stage_, stage) != stage_.end(); }
    std::size_t count(Stage stage) const { return static_cast<std::size_t>(std::ranges::count(stage_, stage)); }

    Harness& harness_;
    std::vector<Stage> stage_;
};

/// What a transport does wrong; empty when it conforms. `lates` are the ranks that are late, one after the other;
/// `free_run` is what the ranks then do on their own.
inline std::vector<std::string> complaints(Harness& harness, const std::vector<Rank>& lates, FreeRun free_run) {
    std::vector<std::string> found;
    const auto expect = [&](bool holds, Rank late, const char* what) {
        if (!holds) found.push_back("with rank " + std::to_string(late) + " late: " + what);
    };
    Toll toll(harness);
    for (const Rank late : lates) {
        const bool alone = harness.ranks() == 1;
        const std::vector<Rank> expected{late};
        std::vector<std::vector<Rank>> named;
        toll.all_arrive_except(late);
        expect(toll.left() == 0, late, "a test lets nobody go");
        for (const std::uint64_t ms : {0U, 0U, 1U})
            expect(toll.left_within(ms, named) == 0, late, "a timed wait lets nobody go, again and again");
        expect(toll.left() == 0, late, "a test after a timed wait lets nobody go");
        if (harness.names_exactly() && !alone) {
            expect(toll.missing() == expected, late, "the late rank is named");
            expect(std::ranges::count(named, expected) == 3 * (harness.ranks() - 1), late,
                   "every timed wait names the late rank and nobody else");
        }
        toll.arrive(late);
        if (harness.names_exactly()) expect(toll.missing().empty(), late, "nobody is named after all have arrived");
        expect(toll.left() == harness.ranks(), late, "all leave");

        for (Rank rank = 0; rank < harness.ranks(); ++rank)
            if (rank != late) harness.begin(rank, Call::arrive_and_wait);
        for (Rank rank = 0; rank < harness.ranks(); ++rank)
            if (rank != late) expect(!harness.ended(rank), late, "nobody who waits returns");
        harness.begin(late, Call::arrive_and_wait);
        for (Rank rank = 0; rank < harness.ranks(); ++rank) harness.end(rank);
        expect(harness.unpaid() == 0, late, "all tolls are paid");
    }
    harness.run(free_run);
    if (harness.unpaid() != 0) found.push_back("running freely: all tolls are paid");
    return found;
}

}  // namespace tollbar::testing
