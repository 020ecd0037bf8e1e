// SPDX-License-Identifier: Apache-2.0
// Two calls of one number are told apart by their names, roots, operations and bytes, in this order.
#include "counted.hpp"

#include "operations.h"

#include "listed.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace tollbar::detail::missing {

namespace {

std::string operation_of(const tollbar_counted& one) {
#define TOLLBAR_NAME(name, object) "MPI_" #name,
    static constexpr const char* names[] = {"an operation of its own", TOLLBAR_EACH_OPERATION(TOLLBAR_NAME)};
    const std::size_t operation = one.what >> 16 & 0xffff;
    return names[operation < std::size(names) ? operation : 0];
}

std::string of_bytes(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

/// "8 bytes", or "8 bytes given and 4 bytes expected".
std::string bytes_of(const tollbar_counted& one) {
    const auto [what, gives, gets] = form_of(one);
    if (!is_known(gives)) return "";
    return gives == gets ? of_bytes(gives) : of_bytes(gives) + " given and " + of_bytes(gets) + " expected";
}

/// The root, the operation and the bytes in words; empty where the call has none.
using Parts = std::array<std::string, 3>;

Parts parts_of(const tollbar_counted& one) {
    return {root_in(one) == 0 ? "" : std::string("root ").append(std::to_string(root_in(one) - 1)),
            call_of(one).op == 0 ? "" : operation_of(one), bytes_of(one)};
}

}  // namespace

std::string described(const tollbar_counted& one, const tollbar_counted& other) {
    Parts parts = parts_of(one);
    if (call_in(one) == call_in(other)) {
        const Parts others = parts_of(other);
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (parts[i] == others[i]) parts[i].clear();
    } else {
        std::fill(parts.begin() + 1, parts.end(), "");
    }
    std::vector<std::string> shown;
    std::ranges::remove_copy(parts, std::back_inserter(shown), "");
    return call_of(one).name + (shown.empty() ? "" : " (" + joined(shown, ", ") + ")");
}

}  // namespace tollbar::detail::missing
