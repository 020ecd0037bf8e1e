// SPDX-License-Identifier: Apache-2.0
// A collective call that a rank has counted, taken apart and in words.
#pragma once

#include "ranks.hpp"

#include <cstdint>
#include <string>
#include <tuple>

namespace tollbar::detail::missing {

inline unsigned call_in(const tollbar_counted& one) { return static_cast<unsigned>(one.what & 0xffff); }
inline const tollbar_call& call_of(const tollbar_counted& one) { return call_of(call_in(one)); }
inline std::uint64_t root_in(const tollbar_counted& one) { return one.what >> 32; }  ///< plus one; 0: none

inline bool is_known(std::uint64_t bytes) { return bytes != ~std::uint64_t{0}; }

/// The call with its root and operation, and what the rank gives and gets.
using Form = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

/// Calls of one number match where this is equal. A rank that only gives or only gets is as one that does both.
inline Form form_of(const tollbar_counted& one) {
    return {one.what, is_known(one.gives) ? one.gives : one.gets, is_known(one.gets) ? one.gets : one.gives};
}

/// Whether the rank expects of each what it gives to each: it is one of them.
inline bool fits_itself(const tollbar_counted& one) {
    const auto [what, gives, gets] = form_of(one);
    return gives == gets;
}

/// A call with what of it differs from `other`; of another call, with its root.
std::string described(const tollbar_counted& one, const tollbar_counted& other);

}  // namespace tollbar::detail::missing
