// SPDX-License-Identifier: Apache-2.0
// The barrier in the 32 bytes of a pthread_barrier_t, which may be destroyed and overwritten as soon as the serial
// thread has returned, while others still leave (docs/design/memory-order.md).
#pragma once

#include <tollbar/detail/leaves.hpp>
#include <tollbar/detail/unranked.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace tollbar::detail {

/// The gate that a thread is inside of, in a word of the thread's own that is never freed.
template <class Sync>
class GateVisit {
public:
    /// Before the thread arrives. Memory order: relaxed; the arrival, a release, comes after it.
    void begin(const void* gate) noexcept { at_.store(number_of(gate), std::memory_order_relaxed); }

    /// After the thread's last access to the gate. Memory order: release, pairs with is_at().
    void end() noexcept { at_.store(0, std::memory_order_release); }

    /// Whether the thread may still look at the gate. Memory order: acquire, pairs with end().
    bool is_at(const void* gate) const noexcept { return at_.load(std::memory_order_acquire) == number_of(gate); }

private:
    static std::uint64_t number_of(const void* gate) noexcept { return reinterpret_cast<std::uintptr_t>(gate); }

    Word<Sync> at_{0};
};

/// The number by which an object is known to be a gate of that scope: glibc has 0 or 128 in its place.
constexpr std::uint32_t gate_kind(Scope scope) noexcept { return 0x7011'ba40 + (scope == Scope::shared ? 1 : 0); }

/// That of a gate whose threads meet at leaves.
inline constexpr std::uint32_t kind_at_leaves = 0x7011'ba42;

/// Has `wait(are_gone)` wait until no visit is at the gate any more. `visits` calls a function for each Visit there is.
/// Memory order: all accesses to the gate happen before it returns.
template <class Visits, class Wait>
void wait_for_visits(const void* gate, Visits&& visits, Wait&& wait) noexcept {
    visits([&](const auto& visit) { wait([&] { return !visit.is_at(gate); }); });
}

/// Any number of threads, one of which is told that it is the serial one: the last to arrive. One word only grows: it
/// counts arrivals, and a phase is over when it has reached the next multiple of `expected`.
///
///     Gate<NativeSync, Scope::process> gate(threads);
///     const bool serial = gate.pass(visit, [&](auto target, auto) { gate.wait(target, backoff, Never{}); });
///     if (serial) gate.clear(visits, [](auto&& are_gone) { while (!are_gone()) yield(); });
///
/// A thread leaves in two steps: it looks at the gate for the last time, then says so, in its GateVisit or, for
/// Scope::shared, by a departure that is counted in the gate itself.
template <class Sync, Scope scope>
class Gate {
public:
    static constexpr std::uint32_t max_expected = 0x7fff'fffe;  ///< glibc's

    explicit Gate(std::uint32_t expected) noexcept : expected_(expected), kind_(gate_kind(scope)) {}

    std::uint32_t expected() const noexcept { return expected_; }

    /// The same place in gates of either scope.
    std::uint32_t kind() const noexcept { return kind_; }

    /// How many have arrived in the phase that ends at `target`; all, once it is over. Memory order: none.
    std::uint64_t arrived(std::uint64_t target) const noexcept {
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        return word >= target ? expected_ : expected_ - (target - word);
    }

    /// Arrives, has `wait(target, place)` wait for the others, where the first to arrive has place 0, and leaves. True
    /// for one thread of the phase, the last.
    /// Memory order: what every thread did before it passed is visible to every thread after.
    template <class Visit, class Wait>
    bool pass(Visit& visit, Wait&& wait) noexcept {
        visit.begin(this);
        // A destroyer that has seen this addition sees that the visit has begun.
        const std::uint64_t before = word_.fetch_add(1, std::memory_order_seq_cst);
        const std::uint64_t episode = before / expected_ + 1;
        const std::uint64_t target = episode * expected_;
        const std::uint64_t place = before + expected_ - target;
        const bool is_last = place + 1 == expected_;
        if (is_last)
            wake_sleepers_after_add(word_, sleepers_, episode, waking);
        else
            wait(target, place);
        if constexpr (scope == Scope::shared) last_.fetch_add(1, std::memory_order_release);  // pairs with are_gone()
        visit.end();
        return is_last;
    }

    /// Waits for the end of a phase, in the manner that the gate keeps. False when the deadline passed first.
    /// Memory order: as reached().
    template <class Deadline>
    bool wait(std::uint64_t target, typename Sync::Backoff& spinning, Deadline deadline) noexcept {
        const LearnedElsewhere<Sync, Gate> phase{*this, spinning};
        if constexpr (scope == Scope::shared)
            return KeptManner<Sync>().wait(phase, target, expected_, deadline);
        else
            return last_.wait(phase, target, expected_, deadline);
    }

    /// Has `wait(are_gone)` wait until are_gone() is true: nobody who has passed will look at the gate again. The
    /// caller knows that the last phase is over. `visits` calls a function for each Visit there is.
    /// Memory order: all accesses to the gate happen before it returns.
    template <class Visits, class Wait>
    void clear(Visits&& visits, Wait&& wait) const noexcept {
        if constexpr (scope == Scope::shared) {
            wait([this] { return last_.load(std::memory_order_acquire) >= word_.load(std::memory_order_relaxed); });
        } else {
            wait_for_visits(this, visits, wait);
        }
    }

    /// Whether the phase is over. Memory order: acquire of all arrivals.
    bool reached(std::uint64_t target) const noexcept { return word_.load(std::memory_order_acquire) >= target; }

    /// Sleeps until it may be over; false when the deadline passed first. Memory order: none.
    template <class Deadline>
    bool sleep(std::uint64_t target, Deadline deadline) const noexcept {
        return park(word_, target, sleepers_, target / expected_, waking, deadline);
    }

private:
    friend struct Outside;  // what `tollbar who` reads of it: src/look/own_barriers.cpp

    static constexpr Waking waking{.scope = scope};

    Word<Sync> word_{0};
    std::uint32_t expected_;
    std::uint32_t kind_;
    mutable SleeperCounts<Sync> sleepers_;
    /// Departures, or what threads of one process have found out about how to wait.
    std::conditional_t<scope == Scope::shared, Word<Sync>, KeptManner<Sync>> last_{};
};

/// As Gate, between threads of one process that meet at leaves (docs/design/leaves.md), which it owns until clear().
/// The expected number and the kind have the same places.
template <class Sync>
class GateAtLeaves {
public:
    explicit GateAtLeaves(std::unique_ptr<Leaves<Sync>> leaves) noexcept
        : leaves_(leaves.release()), expected_(static_cast<std::uint32_t>(leaves_->expected())) {}

    std::uint32_t expected() const noexcept { return expected_; }
    std::uint32_t kind() const noexcept { return kind_; }

    /// How many have arrived in the phase of a ticket; all, once it is over. Memory order: none.
    std::uint64_t arrived(std::uint64_t ticket) const noexcept {
        const std::uint64_t room = leaves_->room();
        return leaves_->reached(ticket) ? expected_ : expected_ - room;
    }

    /// Arrives, has `wait(ticket)` wait for the others, and leaves. True for one thread of the phase, the last.
    /// Memory order: as Gate::pass().
    template <class Visit, class Wait>
    bool pass(Visit& visit, Wait&& wait) noexcept {
        visit.begin(this);
        bool is_last = false;
        // A destroyer that has come through the phase sees that the visit has begun.
        const std::uint64_t ticket = leaves_->arrive(1, [&] { is_last = true; });
        if (!is_last) wait(ticket);
        visit.end();
        return is_last;
    }

    /// Waits for the end of the ticket's phase. False when the deadline passed first. Memory order: as
    /// Leaves::reached().
    template <class Deadline>
    bool wait(std::uint64_t ticket, Deadline deadline) noexcept {
        return manner_.wait(*leaves_, ticket, expected_, deadline);
    }

    /// True for the first thread that asks in the phase of its ticket, which has not passed. Memory order: none.
    bool is_first(std::uint64_t ticket) noexcept {
        const std::uint64_t phase = Leaves<Sync>::phases_of(ticket);
        std::uint64_t latest = spoken_for_.load(std::memory_order_relaxed);
        return latest < phase &&
               spoken_for_.compare_exchange_strong(latest, phase, std::memory_order_relaxed, std::memory_order_relaxed);
    }

    /// As Gate::clear(). The leaves are gone then.
    template <class Visits, class Wait>
    void clear(Visits&& visits, Wait&& wait) noexcept {
        wait_for_visits(this, visits, wait);
        delete leaves_;
    }

private:
    Leaves<Sync>* leaves_;
    std::uint32_t expected_;
    std::uint32_t kind_ = kind_at_leaves;
    KeptManner<Sync> manner_;
    Word<Sync> spoken_for_{0};  ///< the latest phase of is_first()
};

}  // namespace tollbar::detail
