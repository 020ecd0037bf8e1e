// SPDX-License-Identifier: Apache-2.0
// The plans that are worth trying in a communicator, in the order that the model gives before anything has run.
#pragma once

#include <tollbar/price.hpp>
#include "tuning.hpp"

#include <string>
#include <vector>

namespace tollbar::detail {

/// A plan as a door of MPI spells it, and what the model makes of it.
struct MpiCandidate {
    std::string plan;
    std::string family;  ///< of its radix variants
    double cost_us;      ///< what it is chosen by
    double work_us;      ///< of all CPUs together, a node
};

/// The cost of one step between ranks of a node, at words, and between nodes, by messages.
struct MpiTransports {
    LogP messages;
    LogP words;
    Rank one_word = max_ranks;    ///< up to here ranks add to a word that stays in one cache: words.g each
    double word_apart_us = 0.09;  ///< what each adds to its time where they are more
    Rank cluster = max_ranks;     ///< ranks of a node that are near each other; more meet also in groups of this size
};

/// With what the kernel says of this machine's caches; other nodes are taken to be alike.
MpiTransports here(MpiTransports transports);

/// Until something was measured: a cache line between two cores of the machine the project began on, and a message
/// over TCP there; only their proportions decide anything.
inline constexpr MpiTransports default_mpi_transports{.messages = {.L = 10, .o = 6, .g = 6},
                                                      .words = {.L = 0.06, .o = 0.01, .g = 0.014}};

/// Everything that can be tried there, priced, in the order of the catalogue; plans with equal words once.
std::vector<MpiCandidate> mpi_candidates(const MpiSituation& situation, const MpiTransports& transports);

/// Their spellings in the order to try them in: first the model's choice, which is the one of least cost, then the one
/// of least work, should CPUs be what lacks after all; then the best of each family by cost, then all others.
std::vector<std::string> in_order_of_trial(std::vector<MpiCandidate> candidates);

}  // namespace tollbar::detail
