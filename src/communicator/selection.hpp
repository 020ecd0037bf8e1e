// SPDX-License-Identifier: Apache-2.0
// How a communicator gets its plan when nobody asked for one and none is stored: the model names candidates, the
// ranks run the best few of them, rank 0 decides, and the choice is stored.
#pragma once

#include "meeting.hpp"
#include "set_up.hpp"

#include "tuner/mpi_candidates.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tollbar::detail::mpi {

/// A barrier that is being tried: enters the next episode and waits for it.
using Trial = std::function<void()>;

/// Makes one for a spelling, collectively; empty, on every rank alike, where its NICs cannot be had.
using MakeTrial = std::function<Trial(const std::string& spelling)>;

struct Selection {
    MpiSituation situation;              ///< rank 0's counts
    double budget_ms;                    ///< of measuring; 0 takes the model's choice
    Rank far;                            ///< a rank on another node than rank 0; 0 when there is none
    std::vector<std::string> on_nics{};  ///< tried as well, the best one first
    bool only_nics = false;              ///< nothing else is
};

/// Collective; the same answer on every rank. Rank 0 stores the measured times under the situation. The budget is
/// kept by rank 0's clock; setting up the trials and one short look at each of them is done whatever that takes.
/// Empty when only NICs were to be tried and none can be had. Throws std::system_error where the MPI fails.
std::string choose_plan(const SetUp& set_up, const Selection& selection, const MakeTrial& make);

/// Collective: the cost of messages to that rank for rank 0, roughly, which every rank learns; other ranks wait. The
/// peer is not rank 0.
LogP measure_messages(const SetUp& set_up, Rank peer);

}  // namespace tollbar::detail::mpi
