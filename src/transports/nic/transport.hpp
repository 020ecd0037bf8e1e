// SPDX-License-Identifier: Apache-2.0
// The host's side of a barrier that the network card runs, as the one runner wants it: an episode is two steps, tell
// the network card and await it. Needs no right beyond the descriptors it is given.
#pragma once

#include "group.h"

#include "runtime/files.hpp"
#include "runtime/overdue.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstdint>
#include <vector>

namespace tollbar::nic {

/// What the daemon gives to a member.
struct GroupFiles {
    File group;   ///< struct toll_group, which nobody but the network card writes
    File host;    ///< struct toll_host
    File daemon;  ///< a connection; that it ends tells that no network card runs the group any more
};

enum class NicStep : std::uint8_t { tell, await };

class NicTransport {
public:
    using Step = NicStep;
    using Sync = NativeSync;

    /// `socket` is a UDP socket bound to the port that the network card wakes. Throws std::system_error.
    NicTransport(GroupFiles files, File socket, wait_policy policy);

    Rank rank() const noexcept { return group_->rank; }

    /// The latest that was entered.
    Episode episode() const noexcept { return episode_; }

    void entered(Episode episode) noexcept {
        episode_ = episode;
        overdue_.reset();
    }

    /// To tell is one system call.
    std::uint32_t take(NicStep step, Episode) noexcept {
        if (step == NicStep::await) return over() ? 1 : 0;
        enter();
        return 1;
    }

    /// Memory order: acquire of what any rank of this host wrote before it arrived: an arrival is a system call, and
    /// the network card's program moves the word by operations that order everything.
    bool met(NicStep, Episode) const noexcept { return over(); }

    /// Has the network card ask again when the episode lasts so long that a frame may be lost; finds out whether it is
    /// still there.
    void progress() noexcept;

    /// What keeps this member, or one that its card was asked by, out.
    toll_refusal refusal() const noexcept { return static_cast<toll_refusal>(toll_load(&group_->refusal) & 0xff); }

    /// Whom refusal() is about.
    Rank refused() const noexcept { return static_cast<Rank>(toll_load(&group_->refusal) >> 8); }

    /// Whether the group takes this member.
    bool admitted() const noexcept { return toll_load(&group_->incarnation) != 0; }

    Patience patience(NicStep) const noexcept {
        // The others get their turn, which often ends the episode, for a fraction of a wake-up (docs/design/card.md).
        if (policy_ == wait_policy::automatic) return {.spins = 0, .yields = 16, .learns = true};
        return patience_for<Sync>(policy_, Crowding::unknown);
    }

    template <class Deadline>
    bool sleep(NicStep, Episode, Stopwatch&, Deadline deadline) noexcept {
        sleep_until(sooner(deadline, overdue_.left()));
        return !deadline.passed();
    }

    /// Whether the daemon that holds the group's programs was found gone, so that no episode will end.
    bool gone() const noexcept { return gone_; }

    /// Who has not entered the episode, asked of every network card; where there are more ranks than one keeps
    /// addresses of, whom this one awaits. In an episode that is not over.
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
    File posts_;   ///< what is posted with it needs nobody's hardware address
    File direct_;  ///< past the host's network stack, where the process may open packet sockets
    wait_policy policy_;
    Episode episode_;
    Overdue overdue_;
    bool gone_ = false;
};

}  // namespace tollbar::nic
