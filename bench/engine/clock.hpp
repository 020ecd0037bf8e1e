// SPDX-License-Identifier: Apache-2.0
// The clock of the measuring programs: one counter that all CPUs share, cheap enough to stamp single episodes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tollbar::bench {

using Ticks = std::uint64_t;

/// The shared clock. It is read neither before the caller's earlier loads are done nor after its later stores
/// become visible, so a stamp behind an episode is never too early and one before it never too late.
/// The first call calibrates and takes about 20 ms.
Ticks ticks() noexcept;

double nanoseconds(Ticks span) noexcept;
Ticks ticks_of(double nanoseconds) noexcept;

/// "tsc" or "monotonic".
std::string_view clock_name() noexcept;

}  // namespace tollbar::bench
