// SPDX-License-Identifier: Apache-2.0
// What the measuring programs are asked to do, read from the command line.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/detail/workload.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::bench {

enum class Placement : std::uint8_t { pinned, free };
/// How a rank passes the time of a workload: it keeps a CPU busy, or leaves it to others.
enum class Computing : std::uint8_t { busy, away };
enum class Depth : std::uint8_t { full, quick };

/// Wrong use: one line that says what was wrong and what is accepted.
struct WrongUse : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What ranks do between barriers, with its spelling.
struct Work {
    std::string spelling;
    Workload workload;
};

struct Options {
    Rank ranks = 2;
    Rank threads = 1;  ///< of each rank; more only in bench/hybrid
    Placement placement = Placement::free;
    std::uint32_t rounds = 10;
    std::uint64_t seed = 1;
    double batch_ns = 0;   ///< 0: 1 ms with a CPU for every rank, 12 ms otherwise
    double budget_ns = 0;  ///< 0: no limit
    Depth depth = Depth::full;
    std::string only;        ///< empty: everything
    std::vector<Work> work;  ///< measured in place of bare episodes; empty: those are
    Computing computing = Computing::busy;
    bool profile = false;
    bool list = false;
    bool help = false;
};

inline constexpr Rank most_ranks = 1024;

std::string_view spelled(Placement placement) noexcept;
std::string_view spelled(Computing computing) noexcept;

/// Throws WrongUse.
Options parse_options(int count, const char* const* words);

/// The text behind --help.
std::string usage(std::string_view program);

}  // namespace tollbar::bench
