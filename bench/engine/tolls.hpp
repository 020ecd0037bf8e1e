// SPDX-License-Identifier: Apache-2.0
// The toll check in place of a measurement: every rank pays before each episode and looks whether all have paid after
// it. Ends the program with a record for the first who leaves early, or for episodes that come to no end.
#pragma once

#include "visit.hpp"

#include <tollbar/toll.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tollbar::bench {

/// A rank left an episode before another had entered it.
struct Early {
    std::uint64_t episode;
    Rank left;
    Rank missing;
};

/// Nobody enters or leaves any more. Ranks are lists with commas.
struct Stuck {
    std::uint64_t episode;
    std::string waiting;  ///< who has arrived and has not left
    std::string missing;  ///< who has not arrived; empty: all have
};

/// The ranks' tolls in memory that they share, and the first fault that one of them found.
class TollBoard {
public:
    explicit TollBoard(Rank ranks) : ranks_(ranks), own_(bytes(ranks)), memory_(own_.data()) {}

    /// In memory of somebody else's, of at least bytes(), all zero.
    TollBoard(Rank ranks, std::byte* memory) : ranks_(ranks), memory_(memory) {}

    TollBoard(const TollBoard&) = delete;
    TollBoard& operator=(const TollBoard&) = delete;

    static std::size_t bytes(Rank ranks) noexcept { return sizeof(Found) + ranks * sizeof(tollbar_toll); }

    Rank ranks() const noexcept { return ranks_; }
    tollbar_toll* tolls() const noexcept { return reinterpret_cast<tollbar_toll*>(memory_ + sizeof(Found)); }

    /// Whoever has found somebody out waits for the program's end; the first one's is what is reported.
    [[noreturn]] void note(const Early& early) const noexcept;

    /// The one who was noted. Memory order: acquire, pairs with note().
    std::optional<Early> noted() const noexcept;

    /// Goes up whenever anybody enters or leaves an episode.
    std::uint64_t progress() const noexcept;

    /// The place of each rank, when nothing goes on any more.
    Stuck stuck() const;

private:
    /// At the beginning of the memory.
    struct alignas(tollbar_toll) Found {
        std::atomic<std::uint32_t> taken, ready;
        Early early;
        std::byte rest[sizeof(tollbar_toll) - sizeof(Early) - sizeof(std::uint64_t)];
    };
    static_assert(sizeof(Found) == sizeof(tollbar_toll));
    Found& found() const noexcept { return *reinterpret_cast<Found*>(memory_); }

    Rank ranks_;
    std::vector<std::byte> own_;
    std::byte* memory_;
};

/// The check that the ranks of a visit make, and what becomes of a fault. `early` and `stuck` do not return.
struct TollVisit {
    const Tolls& asked;
    std::function<void(const Early&)> early;
    std::function<void(const Stuck&)> stuck;
};

/// Reports what a rank has noted, and ranks that are stuck, from a thread of its own.
class TollWatch {
public:
    TollWatch(const TollBoard& board, const TollVisit& visit);
    ~TollWatch();
    TollWatch(const TollWatch&) = delete;
    TollWatch& operator=(const TollWatch&) = delete;

private:
    void watch();

    const TollBoard& board_;
    const TollVisit& visit_;
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread thread_;
};

/// Lets all others enter the episode first, and then go wrong if they can. Nothing depends on how long it takes.
void be_late(const TollBoard& board, std::uint64_t episode, Rank rank);

/// The part of one rank in such a visit.
/// Memory order: none but the barrier's.
template <class Seat>
void attend_tolls(Rank rank, Seat& seat, Visit& visit) {
    const TollBoard& board = visit.tolls();
    const Tolls& asked = visit.checked->asked;
    visit.meet();
    std::optional<TollWatch> watch;
    if (rank == 0) watch.emplace(board, *visit.checked);
    for (std::uint64_t episode = 1; episode <= asked.episodes; ++episode) {
        if (asked.late && episode % board.ranks() == rank) be_late(board, episode, rank);
        tollbar_toll_pay(board.tolls(), rank, episode);
        seat.episode();
        const Rank missing = tollbar_toll_leave(board.tolls(), board.ranks(), rank, episode);
        if (missing != board.ranks()) board.note({.episode = episode, .left = rank, .missing = missing});
    }
    visit.meet();  // whoever has noted a fault does not come, so the watch goes on
}

}  // namespace tollbar::bench
