// SPDX-License-Identifier: Apache-2.0
// A barrier as the simulated threads use it: a plan, whose roles the last thread to arrive plays.
#pragma once

#include "analysis/matching.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::scheduler {

/// A word of memory that several threads may want at once: of each member the one in which it is told, and of each role
/// its counter, which is also what it releases by.
using Word = std::uint32_t;

/// Whether a thread has to have had the word before it takes a step.
enum class Access : std::uint8_t { free, counted };

/// Each thread is a rank and enters episodes 1, 2, ... Flags and counters hold episodes, so they need no reset. A set
/// of awaits is one test, as one word holds the flags of four children.
class Barrier {
public:
    explicit Barrier(const Plan& plan, Access access = Access::free);

    /// The thread has computed and comes to the barrier; a role begins when its last member has told it.
    void enter(Rank self);

    struct Advance {
        bool moved;                  ///< others may see something new
        bool through;                ///< the thread may leave
        std::optional<Word> access;  ///< its next step needs this word first
    };

    /// Takes every step that the thread, which has entered, can take at this instant. `accessed`: it has had the word
    /// that the advance before asked for.
    Advance advance(std::uint32_t thread, bool accessed = false);

    /// Whether advance would find what the thread waits for.
    bool can_advance(std::uint32_t thread) const;

    /// Where the thread, which waits, looks again and again.
    Word polls(std::uint32_t thread) const;

private:
    static constexpr Word no_word = ~Word{0};

    bool finished(Rank self) const;
    bool heard_all(Rank self) const;
    /// Whether `self` has just arrived at a role that the thread plays and is not through with.
    bool plays_on(Rank self, std::uint32_t thread) const;
    /// The member whose await the thread stands at: itself, or a role that it plays.
    Rank stands_for(std::uint32_t thread) const;
    /// Goes on with the word of `self`, the thread or a role that it plays. The word of memory that it needs first.
    std::optional<Word> run(Rank self, std::uint32_t thread, bool& accessed);
    /// The word that the step needs, if that counts; who plays a role knows already what the role tells.
    Word needs(Rank self, std::uint32_t thread) const;
    void note_words(Rank role, const std::vector<Rank>& players);
    void tell(Rank self, std::uint32_t thread);

    Matching matching_;
    std::vector<Episode> told_;           // of each message, the last episode it was signalled for
    std::vector<Episode> entered_;        // of each member, as are the others but counts_
    std::vector<Index> next_;             // the step it stands at
    std::vector<bool> counts_;            // of each step: it is a member's arrival at its role
    std::vector<Word> words_;             // of each step, no_word where it needs none; empty where access is free
    std::vector<std::uint64_t> members_;  // of a role: how many may play it
    std::vector<std::uint64_t> arrivals_;
    std::vector<std::uint32_t> player_;  // of a role: the thread that came last
    std::uint64_t steps_ = 0;
};

/// A barrier by its name (scheduler.hpp) for threads that live on processors `home`.
Barrier make_barrier(const std::string& barrier, const std::vector<std::uint32_t>& home, Access access = Access::free);

}  // namespace tollbar::scheduler
