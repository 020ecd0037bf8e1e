// SPDX-License-Identifier: Apache-2.0
// Whether threads without ranks meet at leaves on this machine.
#include <tollbar/detail/leaves.hpp>

#include "topology.hpp"

#include <tollbar/detail/cpus.hpp>

#include <exception>

namespace tollbar::detail {

std::unique_ptr<Leaves<NativeSync>> leaves_for(std::uint64_t expected) noexcept {
    try {
        if (expected <= topology().one_word || expected > masked_cpus()) return nullptr;
        return std::make_unique<Leaves<NativeSync>>(expected, topology().cores);
    } catch (const std::exception&) {
        return nullptr;
    }
}

}  // namespace tollbar::detail
