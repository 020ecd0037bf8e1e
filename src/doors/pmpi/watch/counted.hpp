// SPDX-License-Identifier: Apache-2.0
// A collective call that a rank has counted, taken apart and in words.
#pragma once

#include "look.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace tollbar::detail::watch {

inline unsigned call_in(const tollbar_counted& one) { return static_cast<unsigned>(one.what & 0xffff); }
inline const tollbar_call& call_of(const tollbar_counted& one) { return call_of(call_in(one)); }
inline std::uint64_t root_in(const tollbar_counted& one) { return one.what >> 32; }  ///< plus one; 0: none

inline bool is_known(std::uint64_t bytes) { return bytes != ~std::uint64_t{0}; }

/// Calls of one number match where this is equal.
using Form = std::pair<std::uint64_t, std::uint64_t>;

inline Form form_of(const tollbar_counted& one) { return {one.what, one.bytes}; }

/// A call with what of it differs from `other`; of another call, with its root.
std::string described(const tollbar_counted& one, const tollbar_counted& other);

/// "MPI_Reduce,root.0,MPI_SUM,8.bytes", with nothing for what the call has not or may differ.
std::string fact_of(const tollbar_counted& one);

}  // namespace tollbar::detail::watch
