// SPDX-License-Identifier: Apache-2.0
// The ranks' barrier as one rank's threads see it: whoever is the messenger enters it, asks for it, waits for it.
#pragma once

#include "doors/mpi/participant.h"

#include <atomic>
#include <functional>

namespace tollbar::hybrid {

/// One messenger at a time. It may be another thread in each episode; the barrier inside orders one after the other.
class Outside {
public:
    /// `meanwhile` is called at each visit, and never blocks. What is handed in outlives this.
    Outside(const tollbar_carrier& carrier, tollbar_mpi_participant* participant, std::function<void()> meanwhile)
        : carrier_(carrier), participant_(participant), meanwhile_(std::move(meanwhile)) {}

    /// Memory order: release of what every thread of this rank did before it arrived inside.
    void arrive(const void* call_site) noexcept {
        meanwhile_();
        episode_ = tollbar_mpi_arrive(participant_, call_site);
    }

    /// Both in one. Memory order: of both.
    void arrive_and_wait(const void* call_site) noexcept {
        meanwhile_();
        ++episode_;
        tollbar_mpi_arrive_and_wait(participant_, call_site);
    }

    /// Whether the ranks have not been, and will not be, through the episode. Once its end was waited for, or found.
    bool failed() noexcept { return tollbar_mpi_failed(participant_, episode_) != 0; }

    /// True when it has failed as well. Never blocks. Memory order: acquire of what every thread of every rank did
    /// before it arrived, when true and not failed.
    bool test() noexcept {
        if (tollbar_mpi_test(participant_, episode_) != 0) return true;
        progress();
        return tollbar_mpi_test(participant_, episode_) != 0;
    }

    /// Memory order: as test().
    void wait() noexcept { tollbar_mpi_wait(participant_, episode_); }

    /// Lets the MPI go on. Only in a thread that may call it.
    void progress() noexcept { carrier_.progress(carrier_.state); }

private:
    tollbar_carrier carrier_;
    tollbar_mpi_participant* participant_;
    std::function<void()> meanwhile_;
    std::uint64_t episode_ = 0;
};

}  // namespace tollbar::hybrid
