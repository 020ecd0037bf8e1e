// SPDX-License-Identifier: Apache-2.0
// Plans over datagrams, as the runner wants it: a signal is a frame, to receive is to look at the socket, and a late
// frame is asked for again.
#pragma once

#include "protocol.hpp"

#include "wire/overdue.hpp"
#include "base/say.h"

#include <tollbar/detail/waiting.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <new>
#include <span>

namespace tollbar::detail {

/// How long things take.
struct UdpTiming {
    std::chrono::nanoseconds again{1000000};  ///< waits for a frame before it asks for it; twice that the next time
    std::chrono::nanoseconds rarest{
        32000000};  ///< but never longer than this; also how often a rank answers while it computes
    std::chrono::nanoseconds linger{500000000};  ///< nobody asks for so long before a rank that others may need goes
};

/// The behaviour of a rank that is kept out of its group.
enum class WhenRefused : std::uint8_t {
    wait_on,  ///< says why once, and asks again: its caller takes no error
    give_up,  ///< is gone()
};

class UdpTransport {
public:
    using Step = toll_step;
    using Sync = NativeSync;

    UdpTransport(Protocol protocol, wait_policy policy, const UdpTiming& timing, Datagrams& network,
                 WhenRefused when_refused = WhenRefused::wait_on)
        : protocol_(std::move(protocol)), network_(&network), policy_(policy), when_refused_(when_refused),
          overdue_(timing.again, timing.rarest) {}

    Protocol& protocol() noexcept { return protocol_; }
    const Protocol& protocol() const noexcept { return protocol_; }

    void entered(Episode episode) noexcept {
        protocol_.enter(episode);
        overdue_.reset();
    }

    std::uint32_t take(const Step& step, Episode) noexcept { return protocol_.signal_and_await(step) ? 1 : 0; }

    /// Takes in what is there, up to the frame that meets the step.
    bool met(const Step& step, Episode) noexcept {
        return protocol_.met(step) || take_in([&] { return protocol_.met(step); });
    }

    /// Asks for the awaited frame if it is late.
    void progress() noexcept {
        constexpr std::size_t most_asked = 64;  // enough to name the missing, too few for a storm
        constexpr int worth_a_roll_call = 8;    // times longer than a frame is waited for: a rank is late
        if (!overdue_.passed(protocol_.news())) return;
        say_refusal();
        protocol_.pull();
        if (overdue_.grown() >= worth_a_roll_call) protocol_.ask(most_asked);
    }

    WaitBudget budget(const Step&) const noexcept {
        // About as long as the sleep and the wake-up that they may save (docs/design/udp.md).
        if (policy_ == wait_policy::automatic) return {.spins = 0, .yields = 16};
        return wait_budget_for<Sync>(policy_, Occupancy::unknown);
    }

    template <class Deadline>
    bool sleep(const Step&, Episode, Stopwatch&, Deadline deadline) noexcept {
        network_->sleep(sooner(deadline, overdue_.left()));
        return !deadline.passed();
    }

    /// Whether this rank was refused and gave up; stays so.
    bool gone() const noexcept { return gone_; }

    /// Takes in what is there, as long as `enough` is false after each; whether it became true.
    template <class Enough>
    bool take_in(Enough&& enough) noexcept {
        constexpr int most = 64;                               // before the clock is read, however many there are
        std::array<std::byte, 2 * sizeof(toll_frame)> buffer;  // what is longer than a frame must be seen to be
        for (int taken = 0; taken < most; ++taken) {
            const auto received = network_->receive(buffer);
            if (!received) return false;
            protocol_.hear(std::span(buffer).first(std::min(received->size, buffer.size())), received->from);
            gone_ = gone_ || (when_refused_ == WhenRefused::give_up && protocol_.refused());
            if (enough()) return true;
        }
        return false;
    }

private:
    void say_refusal() noexcept {
        const UdpRefusal refusal = protocol_.refusal();
        if (said_ || gone_ || refusal.why == toll_not_refused) return;
        said_ = true;
        try {
            tollbar_say("%s", refusal.text().c_str());
        } catch (const std::bad_alloc&) {
        }
    }

    Protocol protocol_;
    Datagrams* network_;
    wait_policy policy_;
    WhenRefused when_refused_;
    Overdue overdue_;
    bool said_ = false;
    bool gone_ = false;
};

}  // namespace tollbar::detail
