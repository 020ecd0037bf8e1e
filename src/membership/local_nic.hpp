// SPDX-License-Identifier: Apache-2.0
// Whether this host has a NIC for barriers, and what one can run; asked before a process joins a group.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollbar::detail::nic {

/// The NIC of this host.
struct Found {
    std::uint32_t address;  ///< IPv4, network byte order; 0: there is none
    int error;              ///< an errno value that says why
};

/// Asks the daemon at TOLLBAR_NICD, else at the usual place. Needs no right. Takes microseconds where no daemon is.
Found find_nic() noexcept;

/// Whether it is "gather" or "switch", which only NICs run, and not a plan.
bool is_counted(std::string_view spelling) noexcept;

/// Why that many NICs cannot run that plan, gather or switch, in one clause; "" when they can.
std::string fault_on_nic(const std::string& spelling, Rank ranks);

/// "10.0.0.3", from network byte order.
std::string text_of_address(std::uint32_t address);

}  // namespace tollbar::detail::nic
