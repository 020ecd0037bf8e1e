// SPDX-License-Identifier: Apache-2.0
// One PE's program over symmetric memory: steps that put, add and look, and how far it has come in them.
#pragma once

#include "block.hpp"

#include <tollbar/plan.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shmem.h>
#include <span>
#include <vector>

namespace tollbar::shmem {

/// What a PE does to tell another one (include/tollbar/shmem.h has the same in C).
enum class Signals : std::uint8_t { puts, amo32, amo64, posted, posted_1, posted_2, posted_4, stores };

constexpr bool by_slots(Signals signals) noexcept { return signals == Signals::puts || signals == Signals::stores; }

/// Runs a program, episode after episode. One thread at a time.
///
///     course.start();
///     while (!course.advance()) compute_something();
class Course {
public:
    /// What to run: a plan, or (nothing) a count up to `pes.size()` and a release by whoever comes last.
    struct Task {
        std::optional<Plan> plan;
        Signals signals;
        Signature signature;
        Episode before;  ///< the episode before the first
    };

    /// `pes` are the members; this PE is pes[self]. `block` lies at the same place on all of them.
    Course(Block block, std::span<const int> pes, Rank self, const Task& task);

    Episode episode() const noexcept { return episode_; }
    bool finished() const noexcept { return next_ == steps_.size(); }
    std::size_t plan_steps_done() const noexcept { return next_; }

    /// Whether all this PE does for others it does in start().
    bool one_shot() const noexcept { return one_shot_; }

    /// Whether the memory of all peers can be read and written by loads and stores.
    bool near() const noexcept { return near_; }

    /// Enters the next episode and does what comes before the first await. Only when finished().
    void start() noexcept {
        block_.enter(++episode_);
        phase_ = phase_of(episode_);
        word_ = slot_word(signature_, episode_);
        next_ = 0;
        advance();
    }

    /// Goes on as far as the awaits allow; true when the episode is over. Never blocks for another PE's arrival.
    /// Memory order: what any PE completed before it started this episode is visible once this returns true.
    bool advance() noexcept {
        while (next_ != steps_.size()) {
            if (!take(steps_[next_])) return false;
            ++next_;
        }
        return true;
    }

    /// What the slots of this PE say that they can not; nothing when all is well. Not for counters.
    struct Fault {
        Reading reading;
        std::uint64_t word;
        std::uint32_t slot;
    };
    std::optional<Fault> fault() const noexcept;

    /// Whether the signal into that slot has come in this episode; false when that can not be told.
    bool has_told(std::uint32_t slot) const noexcept;

private:
    enum class Deed : std::uint8_t {
        put,       ///< write the episode's word into a slot
        store,     ///< the same by a store
        add32,     ///< add one to a 32-bit counter
        add,       ///< add one to a 64-bit counter and wait for its old value
        post,      ///< add one to a 64-bit counter
        hear,      ///< a slot has the episode's word
        heard_32,  ///< a 32-bit counter is not 0
        heard_64,  ///< a 64-bit counter is not 0
        take_32,   ///< take one back from an own 32-bit counter
        take_64,   ///< take one back from an own 64-bit counter
        complete,  ///< shmem_quiet
        count,     ///< count up the first PE's word; all but the last go on `skip` steps further
    };

    struct Step {
        Deed deed;
        int pe;
        std::uint32_t skip;
        std::uint64_t* slot[phases];  ///< counters have one, twice
    };

    bool take(const Step& step) noexcept;
    bool heard(const Step& step) noexcept;
    void post(const Step& step) noexcept;
    void count(const Step& step) noexcept;
    void add_count_and_release(Rank self, std::span<const int> pes);
    void add_plan(Rank self, std::span<const int> pes, const Plan& plan, Signals signals);
    void add_tell(int pe, std::uint32_t slot, Signals signals);

    Block block_;
    std::vector<Step> steps_;
    Signature signature_;
    bool by_slots_;
    bool one_shot_ = true;
    bool near_ = true;
    unsigned most_outstanding_;
    unsigned outstanding_ = 0;
    std::size_t next_ = 0;
    unsigned phase_ = 0;
    std::uint64_t word_ = 0;
    Episode episode_;
    std::uint64_t counted_ = 0;    ///< what the counter shows when all have counted
    std::uint64_t overcount_ = 0;  ///< what it showed instead, when somebody else had counted too
    std::uint64_t members_;
};

}  // namespace tollbar::shmem
