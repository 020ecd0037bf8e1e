// SPDX-License-Identifier: Apache-2.0
// A rank over a network that answers the others also while its program computes, and says goodbye.
#pragma once

#include "transport.hpp"

#include <tollbar/detail/runner.hpp>

#include <memory>
#include <mutex>
#include <thread>

namespace tollbar::detail {

/// Runs episodes. One thread at a time; a second one, its own, takes in and answers now and then while that is outside
/// of all calls, lest a rank that computes for a second holds up one that has lost a frame.
class AnsweringRunner {
public:
    /// Nobody has entered an episode after `before`.
    AnsweringRunner(const UdpIdentity& identity, std::vector<toll_step> steps, Episode before, wait_policy policy,
                    const UdpTiming& timing, std::unique_ptr<Datagrams> network,
                    WhenRefused when_refused = WhenRefused::wait_on);

    /// Answers ranks that still need this one for the last episode, until all have left or none asks any more.
    /// An episode that is not over is given up.
    ~AnsweringRunner();

    /// Enters the next episode, after the end of the one before. Blocks only for that; false when gone() keeps it from
    /// ending.
    bool arrive() noexcept;

    /// Takes in what is there; true when the episode is over. Never blocks.
    /// Memory order: what any rank of this host wrote before it arrived is visible once this returns true, for the
    /// kernel carries datagrams under locks; other hosts share no memory.
    bool test() noexcept;

    /// Waits for the end of the episode; false when the deadline passed first, and may then be called again, or when
    /// gone().
    /// Memory order: as test().
    bool finish(Deadline deadline) noexcept;

    Rank rank() const noexcept { return runner_.transport().protocol().rank(); }
    Episode episode() const noexcept;
    std::vector<Rank> missing() const;  ///< nobody when the episode is over; see Protocol
    UdpCounts counts() const noexcept;

    /// Whether the group refused this rank, which gave up; refusal() says why.
    bool gone() const noexcept;
    UdpRefusal refusal() const noexcept;

private:
    void linger() noexcept;
    void answer_now_and_then(const std::stop_token& stop) noexcept;

    UdpTiming timing_;
    std::unique_ptr<Datagrams> network_;
    std::vector<toll_step> steps_;
    Runner<UdpTransport> runner_;
    bool entered_ = false;
    mutable std::mutex inside_;  ///< held inside a call, and to answer
    std::jthread answering_;
};

}  // namespace tollbar::detail
