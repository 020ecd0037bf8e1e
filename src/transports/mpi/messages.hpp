// SPDX-License-Identifier: Apache-2.0
// Signals by empty messages of an MPI: the transport between ranks that have no memory in common.
#pragma once

#include "p2p.h"

#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tollbar::detail::mpi {

/// A rank's use of a channel in an episode.
struct MessageStep {
    enum class Kind : std::uint8_t {
        send,
        receive,
        leave,  ///< await that the sent message has left
    };

    Kind kind;
    tollbar_channel* channel;
};

/// The transport, for Runner. Receives are posted when an episode starts, so that messages find them; a channel has at
/// most one message under way.
///
/// An episode is not over before its messages have left: over a connection that is still being made a message would
/// stay here, and its receiver wait, until this rank calls the MPI again. So a program ends with leaving().
class Messages {
public:
    using Step = MessageStep;
    using Sync = NativeSync;

    /// `p2p` is copied; its state outlives this. `occupancy` may change at any time.
    Messages(const tollbar_p2p& p2p, wait_policy policy, const std::atomic<Occupancy>& occupancy) noexcept
        : p2p_(p2p), policy_(policy), occupancy_(&occupancy) {}
    Messages(Messages&& other) noexcept = default;
    Messages& operator=(Messages&&) = delete;
    ~Messages();

    /// A step to or from a rank, by a channel that is closed with this. Throws std::system_error when the MPI gives
    /// none.
    Step open(tollbar::Step step);

    /// A step for each channel that sends.
    std::vector<Step> leaving() const;

    /// The steps of a whole program, and leaving(). Throws as open().
    std::vector<Step> steps(const Program& program);

    void entered(Episode) noexcept {
        for (tollbar_channel* channel : receives_) start(channel);
    }
    std::uint32_t take(const Step& step, Episode episode) noexcept;

    /// Memory order: acquire of what the sender did before it sent, when a receive is met.
    bool met(const Step& step, Episode) noexcept {
        const int done = p2p_.done(p2p_.state, step.channel);
        lost_ |= done < 0;
        return done > 0 && !lost_;
    }

    void progress() noexcept {
        p2p_.progress(p2p_.state);
        look();
    }

    /// Asks the MPI whether messages still come.
    void look() noexcept { lost_ |= p2p_.error(p2p_.state) != 0; }

    /// Whether the MPI gave an error for a message, or for the communicator: none is known to have come from then on.
    bool gone() const noexcept { return lost_; }

    /// A look at a message goes with a turn of progress, which is what sleep() is called for.
    static constexpr WaitBudget budget(const Step&) noexcept { return {.spins = 0, .yields = 0}; }

    /// A rank that awaits a message is woken by nobody: it naps once it has looked for a while.
    template <class Deadline>
    bool sleep(const Step&, Episode, Stopwatch& asleep, Deadline deadline) const noexcept {
        const Occupancy occupancy = occupancy_->load(std::memory_order_relaxed);
        return nap<Sync>(wait_budget_for<Sync>(policy_, occupancy), asleep, deadline);
    }

    /// From the next wait on.
    void set_occupancy(const std::atomic<Occupancy>& occupancy) noexcept { occupancy_ = &occupancy; }

private:
    void start(tollbar_channel* channel) noexcept;

    tollbar_p2p p2p_;
    wait_policy policy_;
    const std::atomic<Occupancy>* occupancy_;
    bool lost_ = false;
    std::vector<tollbar_channel*> sends_;
    std::vector<tollbar_channel*> receives_;
};

}  // namespace tollbar::detail::mpi
