// SPDX-License-Identifier: Apache-2.0
// Signals by empty messages of an MPI: the transport between ranks that have no memory in common.
#pragma once

#include "p2p.h"

#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tollbar::mpi {

/// What a rank does with a channel in an episode.
struct MessageStep {
    enum class Kind : std::uint8_t {
        send,
        receive,
        leave,  ///< await that what was sent has left
    };

    Kind kind;
    tollbar_channel* channel;
};

/// The transport, for Runner. Receives are posted when an episode starts, so that messages find them; what is under
/// way in between is one message a channel.
///
/// An episode is not over before what was sent in it has left: over a connection that is still being made it would
/// stay here until this rank calls the MPI again, and who awaits it with it. So a program ends with leaving().
class Messages {
public:
    using Step = MessageStep;
    using Sync = NativeSync;

    /// `p2p` is copied; its state outlives this. `crowding` may change at any time.
    Messages(const tollbar_p2p& p2p, wait_policy policy, const std::atomic<Crowding>& crowding) noexcept
        : p2p_(p2p), policy_(policy), crowding_(&crowding) {}
    Messages(Messages&& other) noexcept = default;
    Messages& operator=(Messages&&) = delete;
    ~Messages();

    /// A step to or from a rank, by a channel that is closed with this. Throws std::system_error when the MPI gives
    /// none.
    Step open(tollbar::Step step);

    /// A step for each channel that sends.
    std::vector<Step> leaving() const;

    /// A whole word, and what it sends has left. Throws as open().
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
    static constexpr Patience patience(const Step&) noexcept { return {.spins = 0, .yields = 0}; }

    /// Nobody wakes who awaits a message: it naps once it has looked for a while.
    template <class Deadline>
    bool sleep(const Step&, Episode, Stopwatch& asleep, Deadline deadline) const noexcept {
        const Crowding crowding = crowding_->load(std::memory_order_relaxed);
        return nap<Sync>(patience_for<Sync>(policy_, crowding), asleep, deadline);
    }

    /// From the next wait on.
    void set_crowding(const std::atomic<Crowding>& crowding) noexcept { crowding_ = &crowding; }

private:
    void start(tollbar_channel* channel) noexcept;

    tollbar_p2p p2p_;
    wait_policy policy_;
    const std::atomic<Crowding>* crowding_;
    bool lost_ = false;
    std::vector<tollbar_channel*> sends_;
    std::vector<tollbar_channel*> receives_;
};

}  // namespace tollbar::mpi
