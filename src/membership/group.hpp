// SPDX-License-Identifier: Apache-2.0
// A member's barrier, run by its NIC, or by its host over UDP, or by nobody if it is alone.
#pragma once

#include "wire/siphash.h"

#include <tollbar/plan.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::detail::nic {

/// A group of hosts, and one member's rank in it.
struct HostGroup {
    toll_key key;
    std::uint32_t id;
    Rank rank;
    Rank ranks;
    std::vector<std::uint32_t> addresses;  ///< of each rank's NIC, IPv4, network byte order; a pair or more
};

struct GroupOptions {
    std::string plan;                 ///< "": pairwise
    std::string daemon;               ///< its socket; "": see socket_of_daemon()
    std::optional<wait_policy> wait;  ///< nothing: TOLLBAR_WAIT
    bool only_nic = false;            ///< do not fall back to UDP
};

/// Why no episode will end any more: an errno value and a line that says what to do.
struct Fault {
    int error;
    std::string line;
};

/// One member. One thread at a time. The base class is a member that is alone.
class GroupTransport {
public:
    explicit GroupTransport(std::string plan) : plan_(std::move(plan)) {}
    GroupTransport(const GroupTransport&) = delete;
    GroupTransport& operator=(const GroupTransport&) = delete;
    virtual ~GroupTransport() = default;

    /// "nic" or "udp".
    virtual const char* name() const noexcept { return "nic"; }

    /// The plan's spelling, "gather" or "switch".
    const std::string& plan() const noexcept { return plan_; }

    /// After the end of the episode before. False when nothing runs the group any more.
    virtual bool arrive() noexcept { return true; }

    /// True before the first episode too.
    virtual bool test() noexcept { return true; }

    /// False when the deadline passed first, or nothing runs the group any more.
    virtual bool finish(Deadline) noexcept { return true; }

    /// Whether it was found that nothing runs the group any more.
    virtual bool gone() const noexcept { return false; }

    /// The reason for gone().
    virtual Fault fault() const { return {0, ""}; }

    /// Without a deadline; names the missing ranks as TOLLBAR_TIMEOUT asks for. False: gone.
    virtual bool wait() noexcept { return true; }

    virtual std::vector<Rank> missing() { return {}; }

private:
    std::string plan_;
};

/// Throws std::invalid_argument when a group cannot be so, std::system_error with the errno value of
/// tollbar_nic_join().
std::unique_ptr<GroupTransport> join_group(const HostGroup& group, const GroupOptions& options);

}  // namespace tollbar::detail::nic
