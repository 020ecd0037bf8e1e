// SPDX-License-Identifier: Apache-2.0
// A process's side of a barrier that a card runs: posts the arrival, looks at the card's word, sleeps until the card
// wakes it. Needs no right beyond the descriptors it is given.
#pragma once

#include "files.hpp"
#include "group.h"

#include <tollbar/plan.hpp>
#include <tollbar/sync.hpp>
#include <tollbar/waiting.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace tollbar::nic {

/// What the daemon gives to a member.
struct Share {
    File group;   ///< struct toll_group, which nobody but the card writes
    File host;    ///< struct toll_host
    File daemon;  ///< a connection; that it ends tells that no card runs the group any more
};

/// How long things take.
struct Pace {
    int yields = 16;  ///< gives way so often between looks before it sleeps, unless told how to wait
    std::chrono::nanoseconds again{1000000};  ///< waits before the card asks again; doubles while nothing moves
    std::chrono::nanoseconds rarest{64000000};
    std::chrono::nanoseconds answers{20000000};  ///< waits for those who are asked whether they have arrived
};

enum class Outcome : std::uint8_t { over, late, gone };

/// One thread at a time.
class Member {
public:
    /// `socket` is a UDP socket bound to the port that the card wakes. Throws std::system_error.
    Member(Share share, File socket, wait_policy policy, const Pace& pace);

    /// Enters the next episode, after the end of the one before. One system call; false when no card took it.
    bool arrive() noexcept;

    /// Whether the episode is over; true before the first. Never blocks. Makes a system call only when the episode
    /// lasts so long that a frame may be lost, to have the card ask again. Memory order: what any rank of this host
    /// wrote before it arrived is visible once this returns true: an arrival is a system call, and the card's program
    /// moves the word by operations that order everything.
    bool test() noexcept;

    /// Waits for the end of the episode; `late` when the deadline passed first, and may then be called again; `gone`
    /// when nothing runs the group any more.
    /// Memory order: as test().
    Outcome finish(Deadline deadline) noexcept;

    /// Whether the daemon that holds the group's programs was found gone, so that no episode will end.
    bool gone() const noexcept { return gone_; }

    /// Who has not entered the episode, asked card by card; where there are more ranks than a card keeps addresses of,
    /// whom this one's card awaits. Empty when the episode is over.
    std::vector<Rank> missing() noexcept;

    Episode episode() const noexcept { return episode_; }
    Rank rank() const noexcept { return group_->rank; }
    Rank ranks() const noexcept { return group_->ranks; }

    /// Whether arrivals go past the host's network stack: they do where the process may open packet sockets.
    bool direct() const noexcept { return static_cast<bool>(direct_); }

private:
    using Clock = std::chrono::steady_clock;

    void open_direct() noexcept;
    bool over() const noexcept;
    bool served() const noexcept;
    void look_for_lost(Clock::time_point now) noexcept;
    bool post(toll_kind kind, std::uint32_t mask) noexcept;
    bool look(Deadline deadline) noexcept;
    void sleep(std::chrono::nanoseconds at_most) noexcept;
    std::vector<Rank> silent() const;

    Share share_;
    Mapped<const toll_group> group_;
    Mapped<toll_host> host_;
    File socket_;
    File direct_;
    wait_policy policy_;
    Pace pace_;
    Episode episode_;
    std::chrono::nanoseconds patience_{};
    Clock::time_point asks_;  ///< when the card is told to ask again
    toll_u64 asked_at_ = 0;   ///< where it was when it was told so
    bool gone_ = false;
};

}  // namespace tollbar::nic
