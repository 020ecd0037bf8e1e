// SPDX-License-Identifier: Apache-2.0
// What a plan costs under LogP (Culler et al. 1993), by exact evaluation of its message graph.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tollbar {

/// Latency, overhead a message on either side, gap between messages of one rank; all in microseconds.
struct LogP {
    double L;
    double o;  ///< o_s, and o_r unless that is given
    double g;
    std::optional<double> o_r{};  ///< of a receiver, where it is not a sender's

    /// What a message costs its sender's CPU, its receiver's, and on the longest path.
    double o_s() const noexcept { return o; }
    double receiver_us() const noexcept { return o_r.value_or(o); }
    double path_us() const noexcept { return o_s() + L + receiver_us(); }
};

/// When an incoming message takes its overhead `o_r` from the receiver's CPU.
enum class Receive : std::uint8_t {
    at_await,    ///< when its await set is reached; inside a set in order of arrival (ties: lower sender)
    plan_order,  ///< when its own await is reached, one await after another as listed
    on_arrival,  ///< as soon as CPU and receive port are free, awaited or not (LogGOPSim's rule)
};

/// A rank that enters `by_us` microseconds after the others, which all enter at 0.
struct Late {
    Rank rank;
    double by_us;
};

/// One message of the evaluated run; times in microseconds.
struct Message {
    Rank from;  ///< a rank, or role(r)
    Rank to;
    double sent_us;      ///< the sender's CPU starts on it
    double arrived_us;   ///< sent + o_s + L
    double received_us;  ///< the receiver's CPU is done with it
};

/// What one episode costs. The barrier's time is that of its last rank.
struct Price {
    double last_us = 0;
    double first_us = 0;
    double mean_us = 0;
    std::uint64_t messages = 0;
    std::uint64_t operations = 0;       ///< steps and events evaluated: what the answer cost
    std::vector<double> completion_us;  ///< of each rank
};

/// Evaluates one episode; Hoefler et al., "A practical approach to the rating of barrier algorithms using the
/// LogP model and Open MPI", section 2, without its simplifications: sends of a rank start at least f_s = max(o_s, g)
/// apart, receives f_r = max(o_r, g) (equations 1 and 2; the ports are independent), a message arrives at send start +
/// o_s + L.
///
/// A role is one member more, with a processor of its own that is there from 0 on. What arrives at it costs o_r there,
/// as any await does: that is the addition to a shared word. The signals that end its word leave together, by one store
/// or one broadcast: they cost o_s once. When roles are done does not count.
///
/// Throws std::invalid_argument for negative or non-finite parameters, for a late rank that does not exist,
/// and for a plan whose signals and awaits do not meet or that cannot finish (verify says why).
/// A rank that is named late twice enters at the later time.
Price price(const Plan& plan, const LogP& logp, Receive receive = Receive::at_await, std::span<const Late> late = {});

/// The same evaluation with every message, in order of (received_us, to, from).
std::vector<Message> price_messages(const Plan& plan, const LogP& logp, Receive receive = Receive::at_await,
                                    std::span<const Late> late = {});

/// LogGP (Alexandrov et al. 1995): what L and g become when every message carries so many bytes. Each byte after the
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

/// What the formulas of Hoefler et al. say in place of an evaluation.
struct ClosedForm {
    double full_us = 0;        ///< as derived
    double simplified_us = 0;  ///< as printed after the paper's "~", which supposes o = o_s = o_r > g; o is their mean
};

/// The closed form for `central`, `combining` (groups of `parameter`), `tournament` or `dissemination` (for a
/// `parameter` of 1); nothing for other algorithms, for which the paper has none; 0 for one rank, whatever the
/// algorithm. Those of central and dissemination equal the price at every size; that of the tournament is met at
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
