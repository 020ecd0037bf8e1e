// SPDX-License-Identifier: Apache-2.0
// The host's side of a barrier that the NIC runs, as the one runner wants it: an episode is two steps, signal the NIC
// and await it. Needs no right beyond the descriptors it is given.
#pragma once

#include "group.h"

#include "base/files.hpp"
#include "wire/overdue.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/detail/waiting.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace tollbar::detail::nic {

/// The descriptors that the daemon gives to a member.
struct GroupFiles {
    File group;   ///< struct toll_group, which only the NIC writes
    File host;    ///< struct toll_host
    File daemon;  ///< a connection; its end means that no NIC runs the group any more
};

enum class NicStep : std::uint8_t { signal, await };

/// How long a host takes that has slept, from the end of an episode to its next arrival: its frame goes up the stack,
/// and it wakes up.
inline constexpr std::chrono::microseconds host_wakes{60};

/// The rank whose signal the member's program awaits next; none where all that it awaits have come.
std::vector<Rank> awaited_in(const toll_group& group);

class NicTransport {
public:
    using Step = NicStep;
    using Sync = NativeSync;

    /// `socket` is a UDP socket bound to the port that the NIC wakes. Throws std::system_error.
    NicTransport(GroupFiles files, File socket, wait_policy policy);

    Rank rank() const noexcept { return group_->self.rank; }

    /// The latest that was entered.
    Episode episode() const noexcept { return episode_; }

    void entered(Episode episode) noexcept {
        episode_ = episode;
        overdue_.reset();
    }

    /// A signal is one system call.
    std::uint32_t take(NicStep step, Episode) noexcept {
        if (step == NicStep::await) return over() ? 1 : 0;
        enter();
        return 1;
    }

    /// Memory order: acquire of what any rank of this host wrote before it arrived: an arrival is a system call, and
    /// the NIC's program moves the word by operations that order everything.
    bool met(NicStep, Episode) const noexcept { return over(); }

    /// Has the NIC ask again when the episode lasts so long that a frame may be lost; finds out whether it is still
    /// there.
    void progress() noexcept;

    /// The first refusal, of this member or by its NIC.
    toll_refusal refusal() const noexcept { return static_cast<toll_refusal>(toll_load(&group_->self.refusal) & 0xff); }

    /// The rank that refusal() is about.
    Rank refused() const noexcept { return static_cast<Rank>(toll_load(&group_->self.refusal) >> 8); }

    /// Whether the group takes this member.
    bool admitted() const noexcept { return toll_load(&group_->self.incarnation) != 0; }

    WaitBudget budget(NicStep) const noexcept {
        // The others get their turn, which often ends the episode, for a fraction of a wake-up (docs/design/nic.md).
        if (policy_ == wait_policy::automatic) return {.spins = 0, .yields = 16};
        return wait_budget_for<Sync>(policy_, Occupancy::unknown);
    }

    /// Returns at once for a while where the host has a CPU for this process alone (docs/design/nic.md).
    template <class Deadline>
    bool sleep(NicStep, Episode, Stopwatch& asleep, Deadline deadline) noexcept {
        const bool polls = policy_ == wait_policy::automatic && asleep.elapsed() < host_wakes;
        if (!polls || yield_once<Sync>() != YieldedTo::nobody) sleep_until(sooner(deadline, overdue_.left()));
        return !deadline.passed();
    }

    /// Whether the daemon that holds the group's programs was found gone, so that no episode will end.
    bool gone() const noexcept { return gone_; }

    /// The ranks that have not entered the episode, asked of every NIC; among more ranks than a NIC keeps addresses of,
    /// the one that this rank awaits. In an episode that is not over.
    std::vector<Rank> missing();

private:
    void open_direct() noexcept;
    void enter() noexcept;
    bool over() const noexcept;
    void sleep_until(Deadline deadline) noexcept;
    bool served() const noexcept;
    bool post(toll_kind kind, Rank to = 0) noexcept;
    void enrol() noexcept;
    std::vector<Rank> silent() const;

    GroupFiles files_;
    Mapped<const toll_group> group_;
    Mapped<toll_host> host_;
    File socket_;  ///< is woken
    File posts_;   ///< for frames that need no hardware address
    File direct_;  ///< past the host's network stack, if the process may open packet sockets
    wait_policy policy_;
    Episode episode_;
    Overdue overdue_;
    bool gone_ = false;
};

}  // namespace tollbar::detail::nic
