// SPDX-License-Identifier: Apache-2.0
// The arenas that this process has, for its communicators to find one that all ranks of a node have.
#pragma once

#include "transports/mpi/arena.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tollbar::detail::mpi {

/// The newest are last.
class Arenas {
public:
    static constexpr std::size_t shown = 4;

    using Held = std::vector<std::shared_ptr<Arena>>;

    /// The newest are first; 0 where there are no more.
    static std::array<std::uint64_t, shown> ids(const Held& held) {
        std::array<std::uint64_t, shown> ids{};
        std::ranges::transform(held.rbegin(), held.rend(), ids.begin(), id_of);
        return ids;
    }

    static std::shared_ptr<Arena> find(const Held& held, std::uint64_t id) {
        const auto found = std::ranges::find(held, id, id_of);
        return found == held.end() ? nullptr : *found;
    }

    Held all() {
        const std::lock_guard lock(mutex_);
        return arenas_;
    }

    std::shared_ptr<Arena> find(std::uint64_t id) { return find(all(), id); }

    void add(std::shared_ptr<Arena> arena) {
        const std::lock_guard lock(mutex_);
        arenas_.push_back(std::move(arena));
        if (arenas_.size() > shown) arenas_.erase(arenas_.begin());  // whoever uses it holds it
    }

private:
    static std::uint64_t id_of(const std::shared_ptr<Arena>& arena) { return arena->id(); }

    std::mutex mutex_;
    Held arenas_;
};

/// The arenas of this process. Never destroyed: threads may be in barriers while the process ends.
inline Arenas& arenas() {
    static auto* const all = new Arenas;
    return *all;
}

}  // namespace tollbar::detail::mpi
