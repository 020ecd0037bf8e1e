// SPDX-License-Identifier: Apache-2.0
// The kernel's knowledge of an interface's network: the host's own addresses, its neighbours, the users of sockets.
#pragma once

#include "base/files.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tollbar::detail::nic {

using Hardware = std::array<std::uint8_t, 6>;

/// Everything it needs open is open from the start, so a host that has run out of descriptors does not stop it. Each
/// question but the first is one exchange with the kernel, whatever the sizes of the kernel's tables. One thread.
class Network {
public:
    /// Throws std::system_error.
    explicit Network(std::string interface);

    const std::string& interface() const noexcept { return interface_; }

    /// The interface's own, in network byte order, as of the last refresh().
    const std::vector<std::uint32_t>& own_addresses() const noexcept { return own_; }

    /// Throws std::system_error.
    Hardware own_hardware() const;

    /// Becomes readable when an address of the host, or of an interface, changes.
    const File& changes() const noexcept { return changes_; }

    /// Looks for the interface's own addresses; those it had stay when that fails.
    void refresh() noexcept;

    /// The hardware address of a neighbour that the kernel has found.
    std::optional<Hardware> find(std::uint32_t address) noexcept;

    /// Makes the kernel ask for a neighbour. The answer comes later, or is lost: ask again.
    void look_for(std::uint32_t address) const noexcept;

    /// The user whose UDP socket gets what `from` sends to that port of ours; nothing when there is none.
    std::optional<uid_t> receiver(std::uint32_t address, std::uint16_t port, std::uint32_t from,
                                  std::uint16_t from_port) noexcept;

private:
    std::string interface_;
    std::uint32_t index_;
    File routes_, sockets_, changes_, datagrams_;
    std::uint32_t asked_ = 0;
    std::vector<std::uint32_t> own_;
};

}  // namespace tollbar::detail::nic
