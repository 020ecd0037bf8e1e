// SPDX-License-Identifier: Apache-2.0
// One episode under LogP, evaluated in full: when each message is sent and received, when each rank is done.
#pragma once

#include "wiring.hpp"

#include <tollbar/price.hpp>

#include <cstdint>
#include <vector>

namespace tollbar {

struct Evaluation {
    std::vector<double> sent_us;        ///< of each message: the sender's CPU starts on it
    std::vector<double> received_us;    ///< of each message: the receiver's CPU is done with it
    std::vector<double> completion_us;  ///< of each rank
    std::uint64_t operations = 0;
    bool finished = false;  ///< false when ranks wait for each other for ever; the times then mean nothing
};

/// One rank's clock and ports. A port that was never used is free at once.
struct Clock {
    double cpu;
    double sent = never;
    double received = never;

    static constexpr double never = -1e300;
};

/// Messages cost their overhead when their await is reached, alone or with the set it lies in. Each rank's CPU
/// is idle from entered_us on.
Evaluation evaluate_at_await(const Wiring& wiring, const LogP& logp, Receive receive,
                             const std::vector<double>& entered_us);

/// Messages cost their overhead as soon as the receiver's CPU and receive port are free.
Evaluation evaluate_on_arrival(const Wiring& wiring, const LogP& logp, const std::vector<double>& entered_us);

}  // namespace tollbar
