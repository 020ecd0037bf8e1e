// SPDX-License-Identifier: Apache-2.0
// One number for all that the ranks of a group must agree on.
#pragma once

#include "datagrams.hpp"
#include "wire/siphash.h"

#include <tollbar/plan.hpp>

#include <cstdint>
#include <string>

namespace tollbar::detail {

/// The digest of a text and a list of hosts, in their order. No secret: it keeps mistakes out, and the MAC protects it.
inline std::uint64_t digest_of(std::string text, const std::vector<UdpAddress>& hosts) {
    text += '\n' + std::to_string(hosts.size());
    for (const UdpAddress& host : hosts) text += ' ' + to_text(host);
    return toll_siphash({0, 0}, text.data(), text.size());
}

/// The digest of a plan and its ranks' addresses.
inline std::uint64_t digest_of(const Plan& plan, const std::vector<UdpAddress>& hosts) {
    std::uint64_t digest = digest_of(plan.name(), hosts);
    const auto mix = [&](const Program& program) {
        const std::string text = to_text(program);
        digest = toll_siphash({digest, program.size()}, text.data(), text.size());
    };
    for (Rank rank = 0; rank < plan.ranks(); ++rank) mix(plan.program(rank));
    return digest;
}

}  // namespace tollbar::detail
