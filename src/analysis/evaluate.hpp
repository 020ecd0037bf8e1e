// SPDX-License-Identifier: Apache-2.0
// One episode under LogP, evaluated in full: when each message is sent and received, when each member is done.
#pragma once

#include "matching.hpp"

#include <tollbar/price.hpp>

#include <cstdint>
#include <vector>

namespace tollbar::detail {

struct Evaluation {
    std::vector<double> sent_us;        ///< of each message: the sender's CPU starts on it
    std::vector<double> received_us;    ///< of each message: the receiver's CPU is done with it
    std::vector<double> completion_us;  ///< of each member
    std::uint64_t operations = 0;
    bool finished = false;  ///< false when ranks wait for each other for ever; the times then mean nothing
};

/// One member's clock and ports. A port that was never used is free at once.
struct Clock {
    double cpu;
    double sent = never;
    double received = never;

    static constexpr double never = -1e300;
};

/// Each member's CPU is idle from entered_us on. The last signals of a role leave together, for the overhead of one.
Evaluation evaluate(const Matching& matching, const LogP& logp, Receive receive, const std::vector<double>& entered_us);

/// The same for Receive::on_arrival.
Evaluation evaluate_on_arrival(const Matching& matching, const LogP& logp, const std::vector<double>& entered_us);

}  // namespace tollbar::detail
