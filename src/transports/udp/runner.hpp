// SPDX-License-Identifier: Apache-2.0
// One rank's running state over a network: the protocol, how it waits and asks again, who answers while it computes,
// and how it says goodbye.
#pragma once

#include "protocol.hpp"

#include <tollbar/waiting.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tollbar {

/// How long things take.
struct UdpPace {
    int yields = 16;  ///< gives way so often between looks for a frame before it sleeps, unless told how to wait
    std::chrono::nanoseconds again{1000000};  ///< waits for a frame before it asks for it; twice that the next time
    std::chrono::nanoseconds rarest{
        32000000};  ///< but never longer than this; also how often somebody answers while it computes
    std::chrono::nanoseconds linger{500000000};  ///< nobody asks for so long before a rank that others may need goes
};

/// Runs episodes. One thread at a time; a second one, its own, takes in and answers now and then while that is outside
/// of all calls, lest a rank that computes for a second holds up one that has lost a frame.
class UdpRunner {
public:
    /// `network` outlives the runner.
    UdpRunner(const UdpIdentity& identity, std::vector<toll_step> steps, Episode before, wait_policy policy,
              const UdpPace& pace, Datagrams& network);

    /// Enters the next episode, after the end of the one before. Blocks only for that.
    void arrive() noexcept;

    /// Takes in what is there; true when the episode is over. Never blocks.
    /// Memory order: what any rank of this host wrote before it arrived is visible once this returns true, for the
    /// kernel carries datagrams under locks; other hosts share no memory.
    bool test() noexcept;

    /// Waits for the end of the episode; false when the deadline passed first, and may then be called again.
    /// Memory order: as test().
    bool finish(Deadline deadline) noexcept;

    /// Answers those who still need this rank for the last episode, until all have left or none asks any more.
    /// An episode that is not over is given up.
    void linger() noexcept;

    Episode episode() const noexcept;
    std::vector<Rank> missing() const;  ///< see Protocol
    UdpCounts counts() const noexcept;

private:
    using Clock = std::chrono::steady_clock;

    /// When a frame is so late that it is asked for.
    struct Asking {
        std::chrono::nanoseconds patience{};
        Clock::time_point due{};
        std::uint64_t heard = 0;
    };

    void be_patient(Clock::time_point now) noexcept;

    /// Asks if it is time to.
    void ask_if_due(Clock::time_point now) noexcept;

    bool wait(Deadline deadline) noexcept;

    /// Takes in all that is there, as long as the episode is not over.
    bool drain() noexcept;
    bool take_one() noexcept;
    void answer_now_and_then(const std::stop_token& stop) noexcept;
    bool look(Deadline deadline) noexcept;

    Protocol protocol_;
    Datagrams& network_;
    wait_policy policy_;
    UdpPace pace_;
    Asking asking_;
    mutable std::mutex inside_;  ///< held by whoever is in a call, or answers
    std::jthread answering_;
};

}  // namespace tollbar
