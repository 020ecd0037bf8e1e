// SPDX-License-Identifier: Apache-2.0
// The memory of one group: a header, a record for every rank, the placed programs, the sleepers and the words. Holds
// no pointers, so that it can lie at different addresses in different processes.
#pragma once

#include "layout.hpp"
#include "slots.hpp"
#include "shared_file.hpp"

#include <tollbar/detail/cpus.hpp>
#include <tollbar/participant.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>

namespace tollbar::detail {

/// The specification of a group.
struct Blueprint {
    Layout layout;
    std::string plan;  ///< as spelled by the user
    Rank ranks = 0;
    wait_policy wait = wait_policy::automatic;
    Scope scope = Scope::process;
    Episode start = 0;  ///< the episode before the first; other than 0 in tests of wrap-around
    SlotGroups slot_groups = {};
    bool may_use_membarrier = true;  ///< its first use by a process takes about 20 ms
};

/// A Standing that may be read while its owner writes it: a reader may get a mixture, and judges again later.
class SharedStanding {
public:
    void set(const Standing& standing) noexcept {
        for (std::size_t i = 0; i < cpus_.size(); ++i) cpus_[i].store(standing.cpus.bits[i], std::memory_order_relaxed);
    }

    Standing get() const noexcept {
        Standing standing;
        for (std::size_t i = 0; i < cpus_.size(); ++i) standing.cpus.bits[i] = cpus_[i].load(std::memory_order_relaxed);
        return standing;
    }

private:
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<decltype(CpuSet::bits)>> cpus_{};
};

/// One rank's entry: its holder, and how far that has come.
struct alignas(line_bytes) RankRecord {
    std::atomic<Episode> arrived{0};        ///< the latest episode its holder has entered
    std::atomic<std::uint64_t> entered{0};  ///< the address it entered from, in its own process; 0: unknown

    alignas(line_bytes) std::atomic<pid_t> process{0};  ///< 0: free; negative: see segment.cpp
    std::atomic<pid_t> thread{0};
    std::atomic<pid_t> last_process{0};           ///< its latest holder; 0: none yet
    std::atomic<std::uint64_t> process_start{0};  ///< tells a process from a later one of the same number; 0: unknown
    std::atomic<Rank> known_as{0};                ///< its number among all ranks, of which some share this memory
    std::atomic<bool> gave_up{false};             ///< its holder cannot end an episode any more, nor can others
    SharedStanding standing;

    alignas(line_bytes) std::uint64_t arrivals = 0;  ///< of the ranks on some CPU, whichever its holder's is
};

class Segment {
public:
    /// Makes the memory of a group. Throws std::system_error.
    explicit Segment(const Blueprint& blueprint);

    /// Makes or opens the memory of a named group. Throws as group::open.
    Segment(std::string_view name, const Blueprint& blueprint, bool any_plan);

    /// Makes the memory of a group inside memory that the caller shares: bytes_for(blueprint) from `memory` on.
    Segment(std::byte* memory, const Blueprint& blueprint);

    /// Uses what another process has made there.
    explicit Segment(std::byte* memory);

    static std::size_t bytes_for(const Blueprint& blueprint);

    /// The size of the segment that begins so, as it says itself; 0 where none does.
    static std::size_t bytes_of(std::span<const std::byte> beginning);

    /// How many bytes of a beginning bytes_of() needs.
    static constexpr std::size_t beginning = 1024;

    /// Whether a whole segment of this version lies in those bytes.
    static bool is_sound(std::byte* memory, std::size_t bytes);

    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    Rank ranks() const noexcept;
    std::string plan() const;
    std::string what() const;                  ///< "the group" or "group 'name'"
    std::string about(Episode episode) const;  ///< "the group (4 ranks, mcs), episode 7"
    Episode start() const noexcept;
    wait_policy wait() const noexcept;
    Waking waking() const noexcept;
    const std::atomic<Occupancy>& occupancy() const noexcept;
    RankRecord& record(Rank rank) const noexcept { return records()[rank]; }
    std::span<RankRecord> records() const noexcept;

    /// Takes the rank for the calling thread. Throws std::invalid_argument when the rank cannot be taken.
    void take_rank(Rank rank, const Standing& standing = own_standing());

    /// A rank given up inside an episode cannot be taken again: the rest of its holder's steps is lost.
    enum class Leaving : std::uint8_t { between_episodes, inside_one };
    void give_up_rank(Rank rank, Leaving leaving) noexcept;

    /// Throws std::invalid_argument for no such rank.
    void demand_rank(Rank rank) const;

    /// The rank of the plan that a rank of the group, held by the caller, runs: itself, or one in the cluster on which
    /// the caller runs at the first call.
    Rank slot_of(Rank rank) const noexcept;

    /// The program of a rank of the plan with the addresses of this mapping. Throws std::invalid_argument for no such
    /// rank.
    std::vector<WordStep<NativeSync>> steps(Rank rank) const;
    Runner<Words<NativeSync>> runner(Rank rank, std::span<const WordStep<NativeSync>> steps) const;

    /// The ranks that have not entered `episode`, or entered it and cannot do their part any more.
    std::vector<absent> missing(Episode episode) const;

    /// Prints one line on stderr: how long the rank has waited, and for which ranks.
    void report_missing(Rank waiting, Episode episode, std::chrono::duration<double> waited) const;

    /// The latest episode that any rank has entered.
    Episode latest() const noexcept;

private:
    struct Header;

    void build(const Blueprint& blueprint);
    void judge_occupancy() noexcept;
    absent::state state_of(const RankRecord& record) const noexcept;
    Header& header() const noexcept;

    SharedFile file_;  ///< of a named group
    std::string name_;
    Mapping mapping_;  ///< none where the caller shares the memory
    std::byte* memory_ = nullptr;
};

}  // namespace tollbar::detail
