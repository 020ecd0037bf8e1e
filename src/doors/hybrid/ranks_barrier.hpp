// SPDX-License-Identifier: Apache-2.0
// The ranks' barrier as the threads of one rank see it: whoever turns arrives there and awaits its end.
#pragma once

#include "communicator/participant.h"

#include <tollbar/plan.hpp>

#include <atomic>
#include <functional>
#include <utility>

namespace tollbar::hybrid {

/// One thread at a time, perhaps another one in each episode; the barrier inside orders one after the other.
class RanksBarrier {
public:
    /// `meanwhile` is called at each arrival, and never blocks. What is handed in outlives this.
    RanksBarrier(const tollbar_p2p& p2p, tollbar_mpi_participant* participant, std::function<void()> meanwhile)
        : p2p_(p2p), participant_(participant), meanwhile_(std::move(meanwhile)) {}

    const tollbar_p2p& p2p() const noexcept { return p2p_; }

    /// Memory order: release of what every thread of this rank did before it arrived inside.
    void arrive(const void* call_site) noexcept {
        meanwhile_();
        episode_ = tollbar_mpi_arrive(participant_, call_site);
    }

    /// True when it has failed as well. Never blocks. Memory order: acquire of what every thread of every rank did
    /// before it arrived, when true and not failed.
    bool test() noexcept {
        const bool over = tollbar_mpi_test(participant_, episode_) != 0;
        if (over) note(tollbar_mpi_failed(participant_, episode_));
        return over;
    }

    /// Memory order: as test().
    void wait() noexcept { note(tollbar_mpi_wait(participant_, episode_)); }

    /// Whether the ranks have not been through the episode. Any thread that has left it.
    /// Memory order: none of its own; the words that release the threads say it to them.
    bool failed(Episode episode) const noexcept {
        const Episode from = fails_from_.load(std::memory_order_relaxed);
        return from != 0 && episode >= from;
    }

private:
    void note(int error) noexcept {
        if (error != 0 && fails_from_.load(std::memory_order_relaxed) == 0)
            fails_from_.store(episode_, std::memory_order_relaxed);
    }

    tollbar_p2p p2p_;
    tollbar_mpi_participant* participant_;
    std::function<void()> meanwhile_;
    Episode episode_ = 0;
    std::atomic<Episode> fails_from_{0};  ///< the first episode that the ranks were not through; 0: none
};

}  // namespace tollbar::hybrid
