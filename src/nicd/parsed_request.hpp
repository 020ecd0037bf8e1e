// SPDX-License-Identifier: Apache-2.0
// A client's request, checked as far as its bytes alone allow. No client's bytes go further than through here.
#pragma once

#include "membership/talk.hpp"

#include "transports/nic/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tollbar::detail::nic {

/// No longer packet can be a request.
inline constexpr std::size_t most_asked = sizeof(Request) + most_addresses * sizeof(RankAddress);

struct ParsedRequest {
    Request request;
    std::vector<RankAddress> addresses;  ///< of `join`

    std::span<const toll_step> steps() const noexcept { return std::span(request.program).first(request.steps); }
    const RankAddress& own() const noexcept;  ///< the member's, after check_join()
};

/// Nothing unless it is one whole request of this version with a known verb and nothing behind it.
std::optional<ParsedRequest> parse(std::span<const std::byte> packet);

/// Checks that describe() can be called with the request, and that each address is one rank's. Throws c_door::Refusal.
/// Costs the time of some hundred comparisons whatever the request.
void check_join(const ParsedRequest& asked);

}  // namespace tollbar::detail::nic
