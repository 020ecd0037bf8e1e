// SPDX-License-Identifier: Apache-2.0
// Barriers between hosts over UDP: any plan, no privilege, split phase, resumable time-outs, and the missing ranks by
// number. Lost, duplicated, reordered and altered datagrams only delay an episode.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/waiting.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar {

namespace detail {
class AnsweringRunner;
}

/// The properties that all ranks of a group must agree on (key, group), and how this rank waits.
struct udp_options {
    /// Random and secret, the same at all ranks of a job, different in each job: half of the 128 bits that
    /// authenticate frames (SipHash-2-4). Never sent.
    std::uint64_t key;

    /// The other half; without it the key has 64 bits.
    std::uint64_t key_high = 0;

    /// Number of the group in its job.
    std::uint32_t group = 0;

    /// automatic: TOLLBAR_WAIT if set, else yields 16 times, then sleeps. spin and yield never sleep.
    wait_policy wait = wait_policy::automatic;

    /// Initial retransmission timeout: how long to wait for a frame before requesting it. Doubles, up to 32
    /// milliseconds.
    std::chrono::nanoseconds again = std::chrono::milliseconds(1);

    /// On destruction a rank answers the others until every rank it signals has left, or no request has come for
    /// this long; half a second by default.
    std::chrono::nanoseconds linger = std::chrono::milliseconds(500);
};

/// Result of a timed wait: true when the episode is over, else the missing ranks in ascending order.
struct udp_wait_result {
    bool done;  ///< whether the episode is over
    std::vector<Rank> missing;

    explicit operator bool() const noexcept { return done; }
};

/// Counts of datagrams.
struct udp_traffic {
    std::uint64_t sent;      ///< repetitions too
    std::uint64_t received;  ///< whatever they were
    std::uint64_t dropped;   ///< of those received: damaged, forged, of another job or group, out of sequence
};

/// A bound socket, so that ranks can exchange their addresses before they join.
class udp_endpoint {
public:
    /// Binds to "10.0.0.3:7777" or "host:7777"; port 0 selects a free one.
    /// Throws std::invalid_argument for a malformed address, std::system_error when binding fails.
    explicit udp_endpoint(const std::string& address);
    udp_endpoint(udp_endpoint&&) noexcept;
    udp_endpoint& operator=(udp_endpoint&&) noexcept;
    ~udp_endpoint();

    /// The bound address with its port. Throws std::bad_alloc.
    std::string address() const;

private:
    friend class udp_participant;
    struct Hidden;
    std::unique_ptr<Hidden> hidden_;
};

/// One rank of a group, used by one thread at a time. A process may have any number of them.
///
///     const tollbar::Plan plan = tollbar::make_plan("dissemination", 3);
///     tollbar::udp_participant self(tollbar::udp_endpoint(hosts[rank]), plan, rank, hosts, {.key = key});
///     for (...) { compute(); self.arrive_and_wait(); }
///
/// arrive() enters an episode; it is left when wait() returns or when test() or a timed wait returns true. Arriving
/// again before that first waits for its end. A rank passes signals on and answers requests while it is inside a call;
/// between calls a thread of its own does so every 1 to 32 ms, so a rank that computes between arrive() and wait() may
/// delay the others by that much in each round.
///
/// Memory order: what a rank did before it arrived happens before any wait, successful test or timed wait of the same
/// episode returns, in every rank of the same host that shares its memory.
class udp_participant {
public:
    /// `addresses` has one for each rank; the other ranks need not be up yet. A plan's roles are played by their first
    /// members, which the others signal and await one by one.
    /// Throws std::invalid_argument when plan, rank and addresses do not fit together.
    udp_participant(udp_endpoint endpoint, const Plan& plan, Rank self, const std::vector<std::string>& addresses,
                    const udp_options& options);
    udp_participant(udp_participant&&) noexcept;
    udp_participant& operator=(udp_participant&&) noexcept;
    ~udp_participant();  ///< lingers, see udp_options

    /// Enters the next episode. Never blocks, unless the previous episode is not over.
    void arrive() noexcept;

    /// Advances as far as possible without blocking; true when the episode is over.
    [[nodiscard]] bool test() noexcept;

    /// Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it names the missing ranks on stderr every S seconds.
    void wait() noexcept;

    /// Enters the next episode and blocks until it is over.
    void arrive_and_wait() noexcept {
        arrive();
        wait();
    }

    /// Waits at most that long. After a time-out the episode goes on: any wait or test() may follow. Throws
    /// std::bad_alloc where the missing ranks cannot be listed.
    template <class Rep, class Period>
    udp_wait_result wait_for(std::chrono::duration<Rep, Period> at_most) {
        return wait_until_deadline(detail::deadline_after(at_most));
    }

    /// The ranks not known to have arrived in the current episode. Every wait that lasts 10 ms asks the others. A rank
    /// that has arrived answers at once while it waits, and within 32 ms while it is outside of any call.
    /// Throws std::bad_alloc.
    std::vector<Rank> missing() const;

    /// The rank it has joined as.
    Rank rank() const noexcept;

    /// The latest episode entered; 0 before the first.
    Episode episode() const noexcept;

    /// The datagrams of this participant so far.
    udp_traffic traffic() const noexcept;

private:
    udp_wait_result wait_until_deadline(detail::Deadline deadline);

    std::unique_ptr<detail::AnsweringRunner> runner_;
};

}  // namespace tollbar
#pragma GCC visibility pop
