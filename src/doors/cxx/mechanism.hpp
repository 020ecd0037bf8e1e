// SPDX-License-Identifier: Apache-2.0
// From a spelling to the memory layout of a group: plans from the catalogue, and the two barriers that no plan
// can say, "turnstile" and "combination".
#pragma once

#include "transports/threads/layout.hpp"

#include <cstdint>
#include <string_view>

namespace tollbar {

/// A catalogue spelling, "turnstile", or "combination[:PROCESSORS[/PLAN]]": PROCESSORS as many as `cpus` (at most
/// one a rank) and PLAN dissemination by default.
/// Throws std::invalid_argument that says what was wrong and what is accepted.
Layout lay_out_spelled(std::string_view spelling, Rank ranks, std::uint32_t cpus);

}  // namespace tollbar
