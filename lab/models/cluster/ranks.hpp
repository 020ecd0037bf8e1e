// SPDX-License-Identifier: Apache-2.0
// The simulated ranks' work: one episode of each plan, entered together, by the transport of every MPI.
#pragma once

#include "hosts.hpp"

#include <tollbar/plan.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace tollbar::models {

/// One episode of a plan, in seconds from the moment at which all ranks entered it.
struct EpisodeTimes {
    std::vector<double> left_s;  ///< of each rank
    double cpu_s = 0;            ///< what simulating it took of this machine
};

/// Told when something happened; `steps_done` are those of all ranks.
struct Watch {
    std::function<void(std::size_t plan, std::uint64_t steps_done)> stepped;
    std::function<void(std::size_t plan, const EpisodeTimes& times)> finished;
};

/// Simulates all plans, which have as many ranks as there are hosts, one after another; rank r is on hosts[r].
/// `gap_s` is what the gap between messages of a rank has over their overhead. Call once, after SMPI_init().
void run_all(const std::vector<Plan>& plans, const Hosts& hosts, double gap_s, const Watch& watch);

}  // namespace tollbar::models
