// SPDX-License-Identifier: Apache-2.0
// For whom ranks wait, from a look at the seats of their host: the lines that TOLLBAR_TIMEOUT prints.
#pragma once

#include "look.hpp"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tollbar::detail::watch {

/// Asked about a process of this host.
struct Asked {
    std::string host;
    std::function<std::string(pid_t process, std::uint64_t address)> site;
    /// "running", "asleep in the kernel's pipe_read", "stopped" or "dead".
    std::function<std::string(const Rank& rank)> doing;
};

struct Line {
    std::string text;
    /// Facts for `tollbar run`, which makes one sentence of those of several hosts. A line about a collective call has
    /// "at ID NUMBER", then the first rank of this host; a standing has "ranks 0,2,5", then "ID:COUNT:CALL" for each
    /// communicator that these share with other hosts. Any other has "in RANK SEAT CALL", the call that its wait is in.
    std::string facts;
};

/// Ranks that are stopped or dead wait no more, as they may have what they waited for; whether there was one. Lines are
/// sound where their ranks still wait a little later, and none of them is stopped then: one that was stopped shortly
/// before the look has left its call by then.
bool leave_out_stopped(std::vector<Rank>& ranks, double timeout_s, const Asked& asked);

/// A line for each communicator at whose collective call ranks have waited for `timeout_s` or longer, for each cycle of
/// messages, and for each rank that keeps others waiting for a message; ranks are those of MPI_COMM_WORLD. A collective
/// call of a communicator meets the one of the same number of its other ranks.
std::vector<Line> conclude(const std::vector<Rank>& ranks, double timeout_s, const Asked& asked);

/// The places of all ranks, and how far they are, for ranks of other hosts: "host a, process 4711, in ..." of a
/// single rank.
std::vector<Line> standings(const std::vector<Rank>& ranks, const Asked& asked);

}  // namespace tollbar::detail::watch
