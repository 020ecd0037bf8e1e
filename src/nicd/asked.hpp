// SPDX-License-Identifier: Apache-2.0
// What a client asked for, checked as far as its words alone tell. No clients' bytes go further than through here.
#pragma once

#include "client/talk.hpp"

#include "transports/nic/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tollbar::nic {

/// No longer packet can be a request.
inline constexpr std::size_t most_asked = sizeof(Request) + most_places * sizeof(Place);

struct Asked {
    Request request;
    std::vector<Place> places;  ///< of `join`

    std::span<const toll_step> steps() const noexcept { return std::span(request.program).first(request.steps); }
    const Place& own() const noexcept;  ///< the member's, after check_join()
};

/// Nothing unless it is one whole request of this version with a known verb and nothing behind it.
std::optional<Asked> parse(std::span<const std::byte> packet);

/// That describe() can be called with what was asked for, and that each address is one rank's. Throws runtime::Refusal.
/// Costs the time of some hundred comparisons whatever was asked for.
void check_join(const Asked& asked);

}  // namespace tollbar::nic
