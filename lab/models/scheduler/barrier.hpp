// SPDX-License-Identifier: Apache-2.0
// A barrier as the simulated threads use it: a plan, whose roles the last thread to arrive plays.
#pragma once

#include "plan/schedule.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::scheduler {

using namespace detail;

/// A word of memory that several threads may want at once: of each member the one in which it receives signals, by the
/// member's number, and of each role its counter, which it also releases by.
using Word = std::uint64_t;

/// Whether a thread has to have had the word before it takes a step.
enum class Access : std::uint8_t { free, counted };

/// Each thread is a rank and enters episodes 1, 2, ... Flags and counters hold episodes, so they need no reset. A set
/// of awaits is one test, as one word holds the flags of four children.
class Barrier {
public:
    explicit Barrier(const Plan& plan, Access access = Access::free);
    Barrier(const Barrier&) = delete;

    /// The thread has computed and comes to the barrier.
    void enter(Rank thread) { cursor_.enter(thread); }

    struct Advance {
        bool moved;                  ///< others may see something new
        bool through;                ///< the thread may leave
        std::optional<Word> access;  ///< its next step needs this word first
    };

    /// Takes every step that the thread, which has entered, can take at this instant. `accessed`: it has had the word
    /// that the advance before asked for.
    Advance advance(Rank thread, bool accessed = false);

    /// Whether advance would find what the thread waits for.
    bool can_advance(Rank thread) const { return cursor_.set_met(thread); }

    /// The word that the thread, which waits, polls.
    Word polls(Rank thread) const;

private:
    using Kind = Operation::Kind;

    void take_step(Rank thread);

    const Access access_;
    const Schedule schedule_;
    Cursor<Schedule> cursor_{schedule_};
    std::vector<bool> knows_;  // of each thread: it has just filled or released what it awaits next
};

/// A plan by its name (models/scheduler.hpp) for threads that live on processors `home`.
Plan make_barrier(const std::string& barrier, const std::vector<std::uint32_t>& home);

}  // namespace tollbar::scheduler
