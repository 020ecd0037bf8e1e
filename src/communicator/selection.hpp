// SPDX-License-Identifier: Apache-2.0
// How a communicator gets its plan when nobody asked for one and none is stored: the model names candidates, the
// ranks run the best few of them, rank 0 decides, and the choice is stored.
#pragma once

#include "agreement.hpp"
#include "set_up.hpp"

#include "tuner/mpi_candidates.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tollbar::mpi {

/// With so much time, in milliseconds, every candidate is tried.
inline constexpr double thorough_from_ms = 200;

/// A barrier that is being tried: enters the next episode and waits for it.
using Trial = std::function<void()>;

/// Makes one for a spelling, collectively; empty, on every rank alike, where its cards cannot be had.
using MakeTrial = std::function<Trial(const std::string& spelling)>;

struct Selection {
    MpiSituation situation;               ///< rank 0's counts
    double budget_ms;                     ///< of measuring; 0 takes the model's choice
    Rank far;                             ///< a rank on another node than rank 0; 0 when there is none
    std::vector<std::string> on_cards{};  ///< tried as well, the best one first
    bool only_cards = false;              ///< nothing else is
};

/// Collective; the same answer on every rank. What was measured is stored under the situation by rank 0. The budget is
/// kept by rank 0's clock; setting up the trials and one short look at each of them is done whatever that takes.
/// Empty when only cards were to be tried and none can be had. Throws std::system_error where the MPI fails.
std::string choose_plan(const SetUp& set_up, const Selection& selection, const MakeTrial& make);

/// Collective: what messages to that rank cost rank 0, roughly, as every rank learns; other ranks wait. The peer is
/// not rank 0.
LogP measure_messages(const SetUp& set_up, Rank peer);

}  // namespace tollbar::mpi
