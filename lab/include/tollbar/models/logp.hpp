// SPDX-License-Identifier: Apache-2.0
// LogP beyond a plan's price: messages that carry something and ranks that handle many, the formulas of Hoefler et al.,
// and loops of nothing but barriers.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace tollbar {

/// LogGP (Alexandrov et al. 1995): L and g when every message carries `bytes` bytes. Each byte after the
/// first takes G microseconds more on its way, and keeps its sender's and its receiver's port busy for as long.
/// Barriers carry nothing; it matters where an empty message is a frame of some length on a slow wire.
///
/// Throws std::invalid_argument for negative or non-finite parameters.
LogP with_payload(const LogP& logp, double G, std::uint64_t bytes);

/// Separates the cost of a message on the longest path from its cost to a busy rank. Under LogP a message costs
/// o_s + L + o_r on the path, and at least o_s or o_r to a rank that handles several. A real hot rank may be faster,
/// because its work overlaps, or slower, because its cache line or wire is contended. The result keeps o_s + L + o_r a
/// message on the longest path and charges `occupancy_us` for each further message of a rank. An occupancy of max(o, g)
/// leaves prices unchanged wherever a rank's sends and receives do not compete for its CPU, if o_s = o_r.
///
/// Throws std::invalid_argument for negative or non-finite parameters.
LogP with_occupancy(const LogP& logp, double occupancy_us);

/// The formulas of Hoefler et al., in place of an evaluation.
struct ClosedForm {
    double full_us = 0;        ///< as derived
    double simplified_us = 0;  ///< as printed after the paper's "~", which supposes o = o_s = o_r > g; o is their mean
};

/// The closed form for `central`, `combining` (groups of `parameter`), `tournament` or `dissemination` (for a
/// `parameter` of 1); nothing for other algorithms, for which the paper has none; 0 for one rank, whatever the
/// algorithm. The forms of central and dissemination equal the price at every size; that of the tournament is met at
/// powers of two, that of combining in fours at powers of four, and in between they lie above the price.
///
/// Throws std::invalid_argument for negative or non-finite parameters, 0 ranks, and groups of fewer than 2.
std::optional<ClosedForm> closed_form(std::string_view algorithm, Rank parameter, Rank ranks, const LogP& logp);

/// The period of a loop of nothing but this barrier, as benchmarks report it that divide a loop's time by its length
/// (Pallas's, which Hoefler et al. used). Ranks that leave early begin the next episode early, so the period may be
/// below the price of a single barrier. It is above that price only where messages of the next episode take the
/// receiver's time before they are awaited (Receive::on_arrival). Evaluated over the second half of 12 episodes, of 8
/// beyond 64 ranks.
///
/// Throws std::invalid_argument as price() does, and for a plan of more than 2^23 steps.
double loop_period_us(const Plan& plan, const LogP& logp, Receive receive = Receive::at_await);

}  // namespace tollbar
#pragma GCC visibility pop
