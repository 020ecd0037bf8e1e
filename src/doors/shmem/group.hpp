// SPDX-License-Identifier: Apache-2.0
// The PEs of a barrier as the caller names them, checked.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/shmem.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::detail::shmem {

struct Members {
    std::vector<int> pes;
    std::optional<Rank> self;  ///< this PE's index among them, if it is one

    Rank size() const noexcept { return static_cast<Rank>(pes.size()); }
    std::uint64_t hash() const noexcept;
};

/// "PE 3"
template <class Number>
std::string pe_text(Number pe) {
    return "PE " + std::to_string(pe);
}

/// `group` may be null. Throws a Refusal (EINVAL, ESRCH).
Members members_of(const tollbar_shmem_group* group);

/// Spreads the bits of `text` and `seed`, the same way on every PE.
std::uint64_t hash_of(const void* text, std::size_t bytes, std::uint64_t seed) noexcept;

}  // namespace tollbar::detail::shmem
