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

namespace tollbar::mpi {

/// The newest are last.
class Arenas {
public:
    static constexpr std::size_t told = 4;

    std::array<std::uint64_t, told> newest() {
        const std::lock_guard lock(mutex_);
        std::array<std::uint64_t, told> ids{};
        const std::size_t count = std::min(told, arenas_.size());
        for (std::size_t i = 0; i < count; ++i) ids[i] = arenas_[arenas_.size() - 1 - i]->id();
        return ids;
    }

    std::shared_ptr<Arena> find(std::uint64_t id) {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(arenas_, id, [](const auto& arena) { return arena->id(); });
        return found == arenas_.end() ? nullptr : *found;
    }

    void add(std::shared_ptr<Arena> arena) {
        const std::lock_guard lock(mutex_);
        arenas_.push_back(std::move(arena));
        if (arenas_.size() > told) arenas_.erase(arenas_.begin());  // whoever uses it holds it
    }

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<Arena>> arenas_;
};

/// Those of this process.
inline Arenas& arenas() {
    static Arenas all;
    return all;
}

}  // namespace tollbar::mpi
