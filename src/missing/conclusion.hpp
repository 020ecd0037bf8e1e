// SPDX-License-Identifier: Apache-2.0
// For whom ranks wait, from a look at the seats of their hosts: the lines that TOLLBAR_TIMEOUT prints.
#pragma once

#include "ranks.hpp"
#include "sentence.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tollbar::detail::missing {

using Ranks = std::vector<const Rank*>;

/// HostAnswers about a rank; its host answers, or what that has told.
struct HostAnswers {
    std::function<std::string(const Rank& rank, std::uint64_t address)> site;
    /// "running", "asleep in the kernel's pipe_read", "stopped" or "dead".
    std::function<std::string(const Rank& rank)> doing;
    bool names_hosts = false;  ///< of several ranks together, too
    bool of_hosts = false;     ///< ranks that are not among these have told nothing, wherever they are
    bool tells_time = true;    ///< how long a wait has lasted, which is not known of two looks shortly after each other
};

/// Ranks that are stopped or dead wait no more, as they may have what they waited for; whether there was one. Lines are
/// sound where their ranks still wait a little later, and none of them is stopped then: one that was stopped shortly
/// before the look has left its call by then.
bool leave_out_stopped(std::vector<Rank>& ranks, double timeout_s, const HostAnswers& asked);

/// A sentence for each communicator at whose collective call ranks have waited for `timeout_s` or longer, for each
/// cycle of messages, and for each rank that keeps others waiting for a message; ranks are those of MPI_COMM_WORLD, in
/// ascending order. A collective call of a communicator meets the one of the same number of its other ranks. A sentence
/// needs news of a host whose ranks wait, and a rank is believed to be where it was seen since the wait began.
std::vector<Sentence> conclude(const Ranks& ranks, double timeout_s, const HostAnswers& asked);

/// Pointers to all of them.
Ranks all_of(const std::vector<Rank>& ranks);

}  // namespace tollbar::detail::missing
