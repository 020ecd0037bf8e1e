// SPDX-License-Identifier: Apache-2.0
// Barriers between hosts over UDP: any plan, no privilege, with split phase, time-outs that can be resumed, and the
// ranks that are missing. Lost, doubled, reordered and altered datagrams delay an episode and do nothing else.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/sync.hpp>
#include <tollbar/waiting.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tollbar {

/// What all ranks of a group agree on beforehand, and how this rank waits.
struct udp_options {
    /// Random, the same at all ranks of a job and another in each job: whoever does not know it cannot be believed.
    std::uint64_t key;

    /// Tells the groups of a job apart.
    std::uint32_t group = 0;

    /// automatic: TOLLBAR_WAIT if set, else looks for a frame and gives way a few times, then sleeps. spin and yield
    /// never sleep.
    wait_policy wait = wait_policy::automatic;

    /// How long to wait for a frame before it is asked for again; each time-out doubles it, up to 32 ms.
    std::chrono::nanoseconds again = std::chrono::milliseconds(1);

    /// A rank that is destroyed answers the others until all it told have left, or nobody asked for so long.
    std::chrono::nanoseconds linger = std::chrono::milliseconds(500);
};

/// What a timed wait found: true when the episode is over, else who is missing (in order of ranks).
struct udp_wait_result {
    bool done;
    std::vector<Rank> missing;

    explicit operator bool() const noexcept { return done; }
};

/// What became of the datagrams.
struct udp_traffic {
    std::uint64_t sent;
    std::uint64_t received;
    std::uint64_t dropped;  ///< of those received: damaged, forged, of another job or group, out of time
};

/// A place to receive at, for exchanging addresses before the group begins.
class udp_place {
public:
    /// "10.0.0.3:7777" or "host:7777"; port 0 takes a free one.
    /// Throws std::invalid_argument when that is no address, std::system_error when it cannot be had.
    explicit udp_place(const std::string& address);
    udp_place(udp_place&&) noexcept;
    udp_place& operator=(udp_place&&) noexcept;
    ~udp_place();

    /// With the port it got.
    std::string address() const;

private:
    friend class udp_participant;
    struct Hidden;
    std::unique_ptr<Hidden> hidden_;
};

/// One rank of a group, used by one thread at a time. A process may have any number of them.
///
///     const tollbar::Plan plan = tollbar::make_plan("dissemination", 3);
///     tollbar::udp_participant self(tollbar::udp_place(hosts[rank]), plan, rank, hosts, {.key = key});
///     for (...) { compute(); self.arrive_and_wait(); }
///
/// An episode is entered by arrive() and left when wait() returns, test() or a timed wait returns true. Arriving again
/// before that waits for the rest first. A rank answers the others while it is inside a call; one that computes for
/// long between arrive() and wait() delays those who lost a frame of its, and plans of several rounds altogether.
///
/// Memory order: what any rank of this host did before it arrived is visible to every rank that has left the same
/// episode.
class udp_participant {
public:
    /// `addresses` has one for each rank, those of other ranks may not be up yet.
    /// Throws std::invalid_argument when the plan, the rank or an address does not fit.
    udp_participant(udp_place place, const Plan& plan, Rank self, const std::vector<std::string>& addresses,
                    const udp_options& options);
    udp_participant(udp_participant&&) noexcept;
    udp_participant& operator=(udp_participant&&) noexcept;
    ~udp_participant();  ///< lingers, see udp_options

    void arrive() noexcept;

    /// Goes on as far as possible without blocking; true when the episode is over.
    [[nodiscard]] bool test() noexcept;

    /// Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it says on stderr every S seconds who is missing.
    void wait() noexcept;

    void arrive_and_wait() noexcept {
        arrive();
        wait();
    }

    /// Waits at most that long. When time runs out the episode goes on: call any wait again, or test().
    template <class Rep, class Period>
    udp_wait_result wait_for(std::chrono::duration<Rep, Period> at_most) {
        return wait_until_deadline(deadline_after(at_most));
    }

    /// Who is not known to have arrived in the current episode. Who has arrived and waits says so when asked, and is
    /// asked by every wait that lasts 10 ms; who has arrived and is outside of any call says so within 32 ms.
    std::vector<Rank> missing() const;

    Rank rank() const noexcept;

    /// The latest episode entered; 0 before the first.
    Episode episode() const noexcept;

    udp_traffic traffic() const noexcept;

private:
    struct Hidden;

    udp_wait_result wait_until_deadline(Deadline deadline);

    std::unique_ptr<Hidden> hidden_;
};

}  // namespace tollbar
