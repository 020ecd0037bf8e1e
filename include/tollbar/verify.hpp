// SPDX-License-Identifier: Apache-2.0
// Proves that a plan is a barrier, for one number of ranks, without running it.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace tollbar {

/// The result of verify. A plan holds when no rank can leave before every rank has entered, no rank waits for ever, and
/// every channel (from, to) carries exactly one signal and one await.
struct Verdict {
    /// The first thing that is wrong, in this order.
    enum class Fault : std::uint8_t {
        none,           ///< it is a barrier
        bad_peer,       ///< a step names its own member or none that exists: from = the member, to = the peer
        channel_twice,  ///< a channel is signalled or awaited twice in an episode
        unawaited,      ///< from signals to, which never awaits it
        unsignalled,    ///< to awaits from, which never signals it
        unplayed,       ///< a role has no members, so no rank can play it: from = to = the role
        deadlock,       ///< to awaits from, which cannot get so far
        unheard,        ///< to can leave although from has not entered
    };

    Fault fault = Fault::none;  ///< none: the plan holds
    Rank from = 0;  ///< a rank or role(r); of the earliest kind, the first pair in the order of `to`, then `from`
    Rank to = 0;    ///< the same
    std::uint64_t operations = 0;  ///< steps taken and runs of ranks touched: what the proof cost

    /// Whether the plan is a barrier.
    bool holds() const noexcept { return fault == Fault::none; }
    explicit operator bool() const noexcept { return holds(); }

    /// One sentence, such as "rank 3 can leave although rank 0 has not entered". Throws std::bad_alloc.
    std::string explain() const;
};

/// A role is a member like a rank, but no rank needs to have heard of it, and it need not hear of every rank. Its
/// members, one of which plays it, are those that its word awaits in its first awaits, that await it right after they
/// signalled it (`!a ?a`), and that it signals in its last signals. So the last arrival can play on: it would only wait
/// for the role in between. Other awaits of a role are messages to its player.
///
/// Checks one run and thereby all runs: awaits name their sender, so every run has the same order of events.
/// The ranks that each member has heard of are kept as runs of neighbouring ranks: the catalogue's plans cost time
/// proportional to their steps (at worst times log ranks), an arbitrary plan up to steps x ranks.
///
/// Throws std::bad_alloc, and what the plan's rule throws; a plan that does not hold is a verdict.
Verdict verify(const Plan& plan);

}  // namespace tollbar
#pragma GCC visibility pop
