// SPDX-License-Identifier: Apache-2.0
// Whether a participant comes last of those on its CPU: then it has no other to give way to, and may spin.
#pragma once

#include <tollbar/plan.hpp>

#include <atomic>
#include <cstdint>

namespace tollbar::detail {

/// The arrivals of those who share a CPU, which they count in a word of shared memory, and one participant's view of
/// them. Several CPUs may have the same word: then whoever is last of all is last on its CPU, too. Decides how to wait,
/// so a wrong answer costs time alone. Memory order: relaxed.
///
///     LastOfCpu last_of_cpu(scheduler_group());
///     last_of_cpu.arrive(arrivals[cpu % arrivals.size()], cpu, episode);
///     if (last_of_cpu) budget.spins = Sync::spins_worth_a_wake();
class LastOfCpu {
public:
    /// The participants of a CPU are known once so many episodes have had as many arrivals there.
    static constexpr Episode settled = 64;

    /// At most so many participants may count in one word.
    static constexpr std::uint32_t most = 0xfff;

    /// `group`, not 0: participants of others are not given way to, so where such count too, nobody is last.
    explicit LastOfCpu(std::uint8_t group = 1) noexcept : group_(group) {}

    /// Counts the caller's arrival. `word` has been 0 before the first.
    void arrive(std::uint64_t& word, std::uint32_t cpu, Episode episode) noexcept {
        const std::atomic_ref arrivals(word);
        std::uint64_t seen = arrivals.load(std::memory_order_relaxed);
        std::uint64_t counted;
        do counted = one_more(seen, static_cast<std::uint32_t>(episode), group_);
        while (!arrivals.compare_exchange_weak(seen, counted, std::memory_order_relaxed));
        const std::uint64_t crowd = before(counted) << 32 | cpu;
        if (crowd != crowd_) {
            crowd_ = crowd;
            settled_from_ = episode + settled;
        }
        is_last_ = now(counted) == before(counted) && group(counted) == group_ && episode >= settled_from_;
    }

    /// Whether as many have arrived with the caller as in each of some episodes before.
    explicit operator bool() const noexcept { return is_last_; }

private:
    // {low half of the episode 32 | group, 0: several 8 | arrivals in the episode before 12 | in this one 12}
    static constexpr std::uint64_t now(std::uint64_t word) noexcept { return word & most; }
    static constexpr std::uint64_t before(std::uint64_t word) noexcept { return word >> 12 & most; }
    static constexpr std::uint64_t group(std::uint64_t word) noexcept { return word >> 24 & 0xff; }
    static constexpr std::uint64_t one_more(std::uint64_t word, std::uint32_t episode, std::uint64_t own) noexcept {
        const auto counted = static_cast<std::uint32_t>(word >> 32);
        const bool first = counted != episode;
        const std::uint64_t earlier = first ? (counted + 1 == episode ? now(word) : 0) : before(word);
        const std::uint64_t common = first || group(word) == own ? own : 0;
        return std::uint64_t{episode} << 32 | common << 24 | earlier << 12 | (first ? 1 : now(word) + 1);
    }

    std::uint64_t group_;
    std::uint64_t crowd_ = 0;  ///< how many there are on which CPU, as the last arrival saw it
    Episode settled_from_ = 0;
    bool is_last_ = false;
};

}  // namespace tollbar::detail
