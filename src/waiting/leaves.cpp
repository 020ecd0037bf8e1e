// SPDX-License-Identifier: Apache-2.0
// Whether threads without ranks meet at leaves on this machine.
#include <tollbar/detail/leaves.hpp>

#include "topology.hpp"

#include <tollbar/detail/cpus.hpp>

#include <exception>

namespace tollbar::detail {

std::unique_ptr<Leaves<NativeSync>> leaves_for(std::uint64_t expected) noexcept {
    try {
        const std::uint32_t cpus = masked_cpus();
        if (cpus > 1 && expected >= 2 * std::uint64_t{cpus} && expected <= 1U << 16)
            return std::make_unique<Leaves<NativeSync>>(
                expected, static_cast<std::uint32_t>((expected + cpus - 1) / cpus), LeafOf::cpu);
        if (expected <= topology().one_word || expected > cpus) return nullptr;
        const LeafShape shape = leaves_of(expected, groups_of(usable_clusters()));
        return std::make_unique<Leaves<NativeSync>>(shape.sizes, shape.groups);
    } catch (const std::exception&) {
        return nullptr;
    }
}

}  // namespace tollbar::detail
