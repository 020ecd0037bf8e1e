// SPDX-License-Identifier: Apache-2.0
// Whether threads without ranks meet at leaves on this machine.
#include <tollbar/detail/leaves.hpp>

#include "runtime/vicinity.hpp"

#include <tollbar/detail/crowding.hpp>

#include <exception>

namespace tollbar {

std::unique_ptr<Leaves<NativeSync>> leaves_for(std::uint64_t expected) noexcept {
    try {
        if (expected <= vicinities().one_word || expected > masked_cpus()) return nullptr;
        return std::make_unique<Leaves<NativeSync>>(expected, vicinities().cores);
    } catch (const std::exception&) {
        return nullptr;
    }
}

}  // namespace tollbar
