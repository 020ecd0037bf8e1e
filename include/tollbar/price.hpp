// SPDX-License-Identifier: Apache-2.0
// The price of a plan under LogP (Culler et al. 1993), by exact evaluation of its message graph.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar {

/// The parameters of LogP, all in microseconds.
struct LogP {
    double L;                     ///< latency
    double o;                     ///< overhead of a message: o_s, and o_r unless that is given
    double g;                     ///< gap between messages of one rank
    std::optional<double> o_r{};  ///< of a receiver, where it is not a sender's

    /// The cost of a message to its sender's CPU, to its receiver's, and on the longest path, in microseconds.
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
    Rank from;           ///< a rank, or role(r)
    Rank to;             ///< the same
    double sent_us;      ///< the sender's CPU starts on it
    double arrived_us;   ///< sent + o_s + L
    double received_us;  ///< the receiver's CPU is done with it
};

/// The cost of one episode. The barrier's time is that of its last rank.
struct Price {
    double last_us = 0;                 ///< when the last rank leaves
    double first_us = 0;                ///< when the first rank leaves
    double mean_us = 0;                 ///< when ranks leave on average
    std::uint64_t messages = 0;         ///< sent in the episode
    std::uint64_t operations = 0;       ///< steps and events evaluated: what the answer cost
    std::vector<double> completion_us;  ///< of each rank
};

/// Evaluates one episode; Hoefler et al., "A practical approach to the rating of barrier algorithms using the
/// LogP model and Open MPI", section 2, without its simplifications: sends of a rank start at least f_s = max(o_s, g)
/// apart, receives f_r = max(o_r, g) (equations 1 and 2; the ports are independent), a message arrives at send start +
/// o_s + L.
///
/// A role is one member more, with a processor of its own that is there from 0 on. An arrival at it costs o_r there, as
/// any await does: that is the addition to a shared word. The signals that end its word leave together, by one store or
/// one broadcast: they cost o_s once. The times at which roles are done do not count.
///
/// Throws std::invalid_argument for negative or non-finite parameters, for a late rank that does not exist,
/// and for a plan whose signals and awaits do not meet or that cannot finish (verify says why).
/// A rank that is named late twice enters at the later time.
Price price(const Plan& plan, const LogP& logp, Receive receive = Receive::at_await, std::span<const Late> late = {});

/// The same evaluation with every message, in order of (received_us, to, from). Throws as price() does.
std::vector<Message> price_messages(const Plan& plan, const LogP& logp, Receive receive = Receive::at_await,
                                    std::span<const Late> late = {});

}  // namespace tollbar
#pragma GCC visibility pop
