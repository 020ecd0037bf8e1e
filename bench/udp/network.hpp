// SPDX-License-Identifier: Apache-2.0
// The sockets of the ranks of a measuring program: on hosts made of network namespaces, or on the loopback.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/udp.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::bench {

/// A host made of a network namespace; no name: this one.
struct Host {
    std::string name;
    std::string address;
};

/// One host a rank. All ranks are threads of this process; a socket belongs to the host it was made on.
class Network {
public:
    /// "NAME=ADDRESS,..." as `scripts/hosts list` tells them; nothing: the loopback. Throws WrongUse for words that are
    /// not that, or too few hosts.
    Network(std::string_view hosts, Rank ranks);

    /// "namespaces" or "loopback".
    const char* kind() const noexcept { return hosts_.front().name.empty() ? "loopback" : "namespaces"; }

    const Host& host(Rank rank) const { return hosts_[rank]; }

    /// A new endpoint on that rank's host. Throws std::system_error, without the right to enter a namespace above all.
    udp_endpoint endpoint(Rank rank) const;

    /// Does something on that rank's host. Throws as endpoint().
    void on_host(Rank rank, const std::function<void()>& action) const;

    Rank hosts() const noexcept { return static_cast<Rank>(hosts_.size()); }

private:
    std::vector<Host> hosts_;
};

}  // namespace tollbar::bench
