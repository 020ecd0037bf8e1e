// SPDX-License-Identifier: Apache-2.0
// Text in plain memory that is sent from rank to rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace tollbar::mpi {

/// As much of it as fits, with zeros after it.
template <std::size_t size>
void copy_text(char (&to)[size], std::string_view from) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(to, from.data(), length);
    std::memset(to + length, 0, size - length);
}

}  // namespace tollbar::mpi
