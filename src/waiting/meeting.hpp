// SPDX-License-Identifier: Apache-2.0
// The state of Python's barriers, which can break as threading.Barrier does, in memory of one process or of several.
#pragma once

#include <tollbar/detail/unranked.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace tollbar::detail {

/// Phases of a fixed number of parties; a phase is passed or broken. All that decides a phase is in one word, which is
/// changed by compare-and-swap: how many have arrived, whether the barrier is broken, how many phases ended since the
/// last that broke (at most `long_ago`), and the phase's number. Whoever ends a phase then counts it in a word that
/// only grows, at which the others wait.
///
///     const auto arrival = meeting.arrive(acts);
///     if (arrival.place == Place::last) { act(); meeting.end(arrival.phase, true); }
///     else { wait(meeting, arrival.target); passed = meeting.passed(arrival.phase); }
template <class Sync>
class BasicMeeting {
public:
    static constexpr std::uint32_t max_parties = (1U << 20) - 1;

    enum class Place : std::uint8_t {
        waiting,  ///< the caller is one of the phase
        last,     ///< the caller completes the phase; with an action it has to end it
        outside,  ///< an action runs: the caller may arrive again when `target` is reached
        broken,   ///< nobody may arrive
    };

    struct Arrival {
        Place place;
        std::uint32_t index;  ///< in the order of arrival
        std::uint32_t phase;
        std::uint64_t target;  ///< see reached()
    };

    static std::size_t bytes(std::uint32_t parties) noexcept {
        return sizeof(BasicMeeting) + parties * sizeof(std::atomic<pid_t>);
    }

    /// `memory` has bytes(parties), and is aligned as a Meeting.
    static BasicMeeting* make(void* memory, std::uint32_t parties, Scope scope) noexcept {
        auto* made = new (memory) BasicMeeting(parties, scope);
        for (std::uint32_t i = 0; i < parties; ++i) new (made->arrived() + i) std::atomic<pid_t>(0);
        return made;
    }

    std::uint32_t parties() const noexcept { return parties_; }
    bool broken() const noexcept { return is_broken(state_.load(std::memory_order_acquire)); }

    std::uint32_t waiting() const noexcept {
        const std::uint64_t state = state_.load(std::memory_order_relaxed);
        return is_broken(state) ? 0 : count(state);
    }

    /// `who` is kept for present(). Memory order: release for whoever ends the phase; for the last, acquire.
    Arrival arrive(bool acts, pid_t who) noexcept {
        for (;;) {
            const std::uint64_t ended = ended_.load(std::memory_order_acquire);
            std::uint64_t state = state_.load(std::memory_order_acquire);
            // Phases are counted as ended after they are: `ended` is not ahead.
            const std::uint64_t target = ended + std::uint32_t(phase(state) + 1 - std::uint32_t(ended));
            Arrival arrival{Place::waiting, count(state), phase(state), target};
            if (is_broken(state)) return arrival.place = Place::broken, arrival;
            if (arrival.index == parties_) return arrival.place = Place::outside, arrival;
            const bool is_last = arrival.index + 1 == parties_;
            const std::uint64_t next = is_last && !acts ? after(state, true, false) : state + 1;
            if (!replace(state, next)) continue;
            if (is_last && !acts) tell();
            arrived()[arrival.index].store(who, std::memory_order_relaxed);
            return arrival.place = is_last ? Place::last : Place::waiting, arrival;
        }
    }

    /// Ends a phase whose action has run, or failed, which breaks the barrier. False when somebody has broken it since.
    bool end(std::uint32_t of, bool passes) noexcept {
        return change([&](std::uint64_t state) -> std::optional<std::uint64_t> {
            if (phase(state) != of) return std::nullopt;
            return after(state, passes, !passes);
        });
    }

    /// A party gives up: the barrier breaks. False when the phase is over, or complete and its action runs.
    bool give_up(std::uint32_t of) noexcept {
        return change([&](std::uint64_t state) -> std::optional<std::uint64_t> {
            if (phase(state) != of || count(state) == parties_) return std::nullopt;
            return after(state, false, true);
        });
    }

    /// A party was never there. No effect on a phase that is over or complete.
    void withdraw(std::uint32_t of) noexcept {
        std::uint64_t state = state_.load(std::memory_order_acquire);
        while (phase(state) == of && count(state) < parties_ && !replace(state, state - 1)) {
        }
    }

    void abort() noexcept {
        change([&](std::uint64_t state) { return std::optional(after(state, false, true)); });
    }

    /// Breaks a phase in which somebody waits; the barrier is as new.
    void reset() noexcept {
        change([&](std::uint64_t state) -> std::optional<std::uint64_t> {
            if (count(state) == 0 && !is_broken(state)) return std::nullopt;
            return after(state, false, false);
        });
    }

    /// Whether the phase, which is over, was passed. Told to be broken as well: a party that finds out only after a
    /// later phase has broken.
    bool passed(std::uint32_t of) const noexcept {
        const std::uint64_t state = state_.load(std::memory_order_acquire);
        return std::uint32_t(phase(state) - 1 - of) < since_break(state);
    }

    /// Members that have arrived, in order.
    std::vector<pid_t> present() noexcept {
        std::vector<pid_t> all(waiting());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = arrived()[i].load(std::memory_order_relaxed);
        return all;
    }

    /// For KeptManner. Memory order: acquire of all arrivals, and the action.
    bool reached(std::uint64_t target) const noexcept { return ended_.load(std::memory_order_acquire) >= target; }

    template <class Deadline>
    bool sleep(std::uint64_t target, Deadline deadline) const noexcept {
        return park(ended_, target, sleepers_, target, Waking{.scope = scope_}, deadline);
    }

private:
    friend struct Outside;  // what `tollbar who` reads of it: src/look/own_barriers.cpp

    static constexpr std::uint64_t broken_bit = std::uint64_t{1} << 20;
    static constexpr std::uint64_t long_ago = (1U << 11) - 1;

    BasicMeeting(std::uint32_t parties, Scope scope) noexcept : parties_(parties), scope_(scope) {}

    static std::uint32_t count(std::uint64_t state) noexcept { return state & max_parties; }
    static bool is_broken(std::uint64_t state) noexcept { return (state & broken_bit) != 0; }
    static std::uint64_t since_break(std::uint64_t state) noexcept { return state >> 21 & long_ago; }
    static std::uint32_t phase(std::uint64_t state) noexcept { return static_cast<std::uint32_t>(state >> 32); }

    /// The state at the beginning of the next phase.
    static std::uint64_t after(std::uint64_t state, bool passes, bool breaks) noexcept {
        const std::uint64_t since = passes ? std::min(since_break(state) + 1, long_ago) : 0;
        return std::uint64_t{phase(state) + 1} << 32 | since << 21 | (breaks ? broken_bit : 0);
    }

    bool replace(std::uint64_t& state, std::uint64_t next) noexcept {
        return state_.compare_exchange_weak(state, next, std::memory_order_acq_rel, std::memory_order_acquire);
    }

    /// Ends the phase by a state that `next` makes of the present one; false when it makes none.
    template <class Next>
    bool change(Next next) noexcept {
        std::uint64_t state = state_.load(std::memory_order_acquire);
        for (;;) {
            const auto wanted = next(state);
            if (!wanted) return false;
            if (replace(state, *wanted)) return tell(), true;
        }
    }

    void tell() noexcept {
        const std::uint64_t episode = ended_.fetch_add(1, std::memory_order_seq_cst) + 1;
        wake_sleepers_after_add(ended_, sleepers_, episode, Waking{.scope = scope_});
    }

    /// Right behind the object.
    std::atomic<pid_t>* arrived() noexcept { return reinterpret_cast<std::atomic<pid_t>*>(this + 1); }

    std::uint32_t parties_;
    Scope scope_;
    mutable Sleepers<Sync> sleepers_;
    alignas(line_bytes) Word<Sync> state_{long_ago << 21};
    alignas(line_bytes) Word<Sync> ended_{0};
};

using Meeting = BasicMeeting<NativeSync>;

}  // namespace tollbar::detail
