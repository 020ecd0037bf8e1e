// SPDX-License-Identifier: Apache-2.0
// Entry and exit times of single episodes, one row a rank, and what they say about the barrier.
#pragma once

#include "clock.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/detail/sync.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::bench {

using namespace detail;

struct Stamp {
    Ticks entry;
    Ticks exit;
};

/// Somebody left an episode before somebody else had entered it, by more than the clock can be wrong: the one thing a
/// barrier must not do.
struct Violation {
    std::size_t episode;
    Rank left;        ///< the first to leave
    Rank missing;     ///< the last to enter
    double early_ns;  ///< how long before the entry it left
};

/// The times that the stamps of one visit give; one sample an episode, in nanoseconds.
struct Samples {
    std::vector<double> latency;      ///< last exit - last entry
    std::vector<double> skew;         ///< last exit - first exit
    std::vector<double> span;         ///< last exit - first entry
    std::vector<double> call;         ///< exit - entry of rank 0
    double inside = 0;                ///< exit - entry: mean over ranks and episodes, as papers count
    std::vector<double> inside_each;  ///< the same of each rank: mean over episodes
    std::vector<double> period;       ///< last entry - last entry of the episode before; one fewer
    std::optional<Violation> violation;
};

/// Room for the stamps of every rank, allocated and touched beforehand so that stamping never faults.
class Stamps {
public:
    Stamps(Rank ranks, std::size_t episodes);

    /// In memory of somebody else's, of at least bytes(), such as processes share.
    Stamps(Rank ranks, std::size_t episodes, void* memory);

    Stamps(const Stamps&) = delete;
    Stamps& operator=(const Stamps&) = delete;

    static std::size_t bytes(Rank ranks, std::size_t episodes) noexcept;

    std::size_t capacity() const noexcept { return episodes_; }

    /// The row in which `rank` writes; rows of different ranks share no cache line.
    Stamp* row(Rank rank) noexcept { return stamps_ + rank * stride_; }

    /// Evaluates the first `episodes` of all rows.
    Samples evaluate(std::size_t episodes) const;

    /// Writes what each rank did from the exit of an episode to the entry of the next, of the first `episodes`, and
    /// that it passed a barrier then: CSV of thread,event,value, in microseconds. Throws std::runtime_error that names
    /// the file.
    void write_profile(std::size_t episodes, const std::string& file) const;

private:
    Rank ranks_;
    std::size_t episodes_;
    std::size_t stride_;
    std::vector<Stamp> own_;
    Stamp* stamps_;
};

}  // namespace tollbar::bench
