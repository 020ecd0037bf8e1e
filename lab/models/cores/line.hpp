// SPDX-License-Identifier: Apache-2.0
// A cache line, as its home knows it, and an access that missed, on its way there and back.
#pragma once

#include <tollbar/models/cores.hpp>

#include <bitset>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace tollbar::cores {

using Thread = std::uint32_t;
using Threads = std::bitset<most_cores>;
inline constexpr Thread nobody = ~Thread{0};

enum class Access : std::uint8_t { load, store, add, change };

struct CacheLine;

struct Request {
    /// Does to the word what was asked for.
    void apply() noexcept {
        result = *word;
        switch (access) {
            case Access::load: break;
            case Access::store: *word = operand; break;
            case Access::add: *word += operand; break;
            case Access::change:
                if (*word == expected) *word = operand;
                break;
        }
    }

    Thread thread;
    CacheLine* line;
    Access access;
    std::uint64_t* word;
    std::uint64_t operand = 0;
    std::uint64_t expected = 0;
    std::uint64_t result = 0;
    double transfer_ns = 0;
    bool done = false;
};

struct CacheLine {
    Thread owner = nobody;
    std::uint64_t handed_over = 0;  ///< how often a write took it from other cores
    Threads sharers;
    Threads losing;   ///< whose invalidation is still on its way,
    double lost = 0;  ///< until then
    bool busy = false;
    bool granting = false;  ///< to `owner`, who does not have the data yet
    std::deque<Request*> queue;
    std::vector<std::pair<Thread, double>> watching;  ///< who polls a valid copy, and when its pause began
    std::vector<double> cluster_has;                  ///< by cluster: when its cache gets the data,
    std::vector<double> cluster_free;                 ///< and when it can serve the next
};

}  // namespace tollbar::cores
