// SPDX-License-Identifier: Apache-2.0
// Proves that a plan is a barrier, for one number of ranks, without running it.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tollbar {

/// What verify found. A plan holds when no rank can leave before every rank has entered, no rank waits for ever, and
/// every channel (from, to) carries exactly one signal and one await.
struct Verdict {
    enum class Fault : std::uint8_t {
        none,           ///< it is a barrier
        bad_peer,       ///< a step names itself or a member that does not exist: from = who it is, to = the peer
        channel_twice,  ///< a channel is signalled or awaited twice in an episode
        unawaited,      ///< from signals to, which never awaits it
        unsignalled,    ///< to awaits from, which never signals it
        unplayed,       ///< a role has no members, so nobody can play it: from = to = the role
        deadlock,       ///< to awaits from, which cannot get so far
        unheard,        ///< to can leave although from has not entered
    };

    Fault fault = Fault::none;
    Rank from = 0;  ///< a rank or role(r); of the earliest kind, the first pair in the order of `to`, then `from`
    Rank to = 0;
    std::uint64_t operations = 0;  ///< steps taken and runs of ranks touched: what the proof cost

    bool holds() const noexcept { return fault == Fault::none; }
    explicit operator bool() const noexcept { return holds(); }

    /// One sentence, such as "rank 3 can leave although rank 0 has not entered".
    std::string explain() const;
};

/// A role is a member like a rank, but nobody needs to have heard of it, and it need not hear of everybody. Its
/// members, one of whom plays it, are those that its word awaits in its first awaits, that await it right after they
/// told it (`!a ?a`), and that it signals in its last signals. So whoever comes last can play on: it would only wait
/// for the role in between. Other awaits of a role are messages to its player.
///
/// Checks one run and thereby all runs: awaits name their sender, so every run has the same order of events.
/// Who has heard of whom is kept as runs of neighbouring ranks: the catalogue's plans cost time proportional
/// to their steps (at worst times log ranks), an arbitrary plan up to steps x ranks.
Verdict verify(const Plan& plan);

}  // namespace tollbar
