// SPDX-License-Identifier: Apache-2.0
// The barrier of many threads without ranks: places at leaves near the caller, one word a leaf that is both its counter
// and its release, and a root for those who fill a leaf (docs/design/leaves.md).
#pragma once

#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/waiting.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// The threads that meet at a leaf: those that run on neighbouring CPUs, or, where each CPU has several, on one.
enum class LeafOf : std::uint8_t { cluster, cpu };

/// Any number of threads without ranks, on many cores. Each phase has a ticket for every arrival that it expects. An
/// arrival takes one at the leaf of its CPU's neighbours, or next door where all are taken; the arrival with a leaf's
/// last ticket goes on to the root, and the last one there releases all leaves, each by one store.
///
///     Leaves<NativeSync> leaves(threads, 8);
///     const std::uint64_t ticket = leaves.arrive(1, completion);
///     leaves.wait(ticket, budget, Never{});
///
/// A leaf's word counts the phase in its high part and the tickets taken in its low part. The result
/// of fetch_add tells which phase an arrival belongs to. The store that opens the next phase overwrites the count, so
/// surplus additions need no undo. Memory: 256 bytes a leaf, 128 a middle node, 384 itself.
template <class Sync>
class Leaves {
public:
    /// More children than that have a level of nodes between them and the root.
    static constexpr std::uint32_t most_children = 4;

    /// `expected` arrivals a phase, `tickets` at a leaf: both at least 1. Allocates; throws std::bad_alloc.
    Leaves(std::uint64_t expected, std::uint32_t tickets, LeafOf near = LeafOf::cluster)
        : expected_(expected), tickets_(tickets), near_(near),
          leaves_(static_cast<std::uint32_t>((expected + tickets - 1) / tickets)),
          middles_(leaves_ > most_children ? (leaves_ + most_children - 1) / most_children : 0),
          leaf_(std::make_unique<Leaf[]>(leaves_)),
          middle_(middles_ == 0 ? nullptr : std::make_unique<Node[]>(middles_)) {
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
            leaf_[leaf].word.store(missing_at(leaf, 0), std::memory_order_relaxed);
    }

    Leaves(const Leaves&) = delete;
    Leaves& operator=(const Leaves&) = delete;

    std::uint64_t expected() const noexcept { return expected_; }

    /// Arrives `times` (at least 1, at most what the phase still expects) and returns the ticket for wait(): the value
    /// that the leaf's word has to reach, and in its low part the leaf. The last arrival of a phase runs `complete`,
    /// then releases. Waits for no arrival: only a caller that finds no slot free may have to wait for a
    /// release that is under way.
    /// Memory order: as Turnstile::arrive().
    template <class Complete>
    std::uint64_t arrive(std::uint64_t times, Complete&& complete) noexcept {
        const std::uint32_t home = (near_ == LeafOf::cluster ? Sync::cluster() : Sync::cpu()) % leaves_;
        std::uint64_t filler = 0;
        for (std::uint32_t tried = 0, at = home;; at = at + 1 == leaves_ ? 0 : at + 1) {
            // Neighbours are known to be full once they have been looked at; the first leaf mostly has a ticket.
            if (tried++ == 0 || taken(leaf_[at].word.load(std::memory_order_relaxed)) < tickets_) {
                const std::uint64_t wanted = std::min<std::uint64_t>(times, tickets_);
                const std::uint64_t before = leaf_[at].word.fetch_add(wanted, std::memory_order_seq_cst);
                const std::uint64_t got = std::min(wanted, tickets_ - std::min(taken(before), tickets_));
                const std::uint64_t phase = before / stride;
                times -= got;
                if (got != 0 && at != home) note_stray(phase);
                if (got != 0 && taken(before) + got == tickets_) {
                    filled(at, phase, complete);
                    filler = last_of_cpu;
                }
                if (times == 0) return (phase + 1) * stride + filler + at;
            }
            if (tried > leaves_) Sync::yield();
        }
    }

    /// How many arrivals the phase still expects, as far as leaves show that others write meanwhile: never fewer.
    /// Memory order: relaxed.
    std::uint64_t room() const noexcept {
        std::uint64_t phase = 0, room = 0;
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
            const std::uint64_t word = leaf_[leaf].word.load(std::memory_order_relaxed);
            // Leaves of the phase before are about to be released.
            if (word / stride > phase) room = leaf * tickets_;
            phase = std::max(phase, word / stride);
            room += tickets_ - (word / stride == phase ? std::min(taken(word), tickets_) : 0);
        }
        return room;
    }

    /// Arrives once and leaves for good: later phases expect one arrival less. Memory order: as arrive().
    template <class Complete>
    void arrive_and_drop(Complete&& complete) noexcept {
        // The caller still owes this phase an arrival, so it cannot end before the last one can see this.
        gone_.fetch_add(1, std::memory_order_relaxed);
        arrive(1, complete);
    }

    /// Whether the phase of that ticket is over. Memory order: acquire of all arrivals and the completion.
    bool reached(std::uint64_t ticket) const noexcept {
        return leaf_[leaf_of(ticket)].word.load(std::memory_order_acquire) >= target_of(ticket);
    }

    /// Waits until it is over; false when the deadline passed first, and may then be called again. The last thread of
    /// a CPU has no other to give way to: it spins in place of yielding. Memory order: as reached().
    template <class Deadline>
    bool wait(std::uint64_t ticket, BasicWaitBudget<typename Sync::Backoff> budget, Deadline deadline) const noexcept {
        if (budget.spins == 0 && learns_from(budget.yields) && is_last_of_cpu(ticket))
            budget.spins = Sync::spins_worth_a_wake();
        budget.spinning = &spinning(ticket);
        return detail::wait<Sync>(AwaitedEnd<Leaves>{*this, ticket}, budget, deadline);
    }

    /// Whether spinning pays for those who wait at that leaf.
    auto& spinning(std::uint64_t ticket) const noexcept { return leaf_[leaf_of(ticket)].spinning; }

    /// Sleeps until it may be over; false when the deadline passed first. Memory order: none.
    template <class Deadline>
    bool sleep(std::uint64_t ticket, Deadline deadline) const noexcept {
        Leaf& leaf = leaf_[leaf_of(ticket)];
        return park(leaf.word, target_of(ticket), leaf.sleepers, ticket / stride, Waking{}, deadline);
    }

private:
    /// Added to the word per phase; larger than any number of surplus additions in a phase (a few per thread). The low
    /// half, on which sleepers sleep, comes round after 4096 phases.
    static constexpr std::uint64_t stride = std::uint64_t{1} << 20;

    /// So many phases without strays, and the threads of a leaf are those of its CPU.
    static constexpr std::uint64_t settled = 64;

    /// In a ticket: its arrival filled a leaf.
    static constexpr std::uint64_t last_of_cpu = stride / 2;

    struct alignas(line_bytes) Leaf {
        Word<Sync> word{0};
        typename Sync::Backoff spinning;  ///< hardly ever written, as the next
        alignas(line_bytes) Sleepers<Sync> sleepers;
    };

    struct alignas(line_bytes) Node {
        Word<Sync> word{0};
    };

    static constexpr std::uint64_t taken(std::uint64_t word) noexcept { return word % stride; }
    static constexpr std::uint64_t leaf_of(std::uint64_t ticket) noexcept { return ticket % last_of_cpu; }
    static constexpr std::uint64_t target_of(std::uint64_t ticket) noexcept { return ticket - ticket % stride; }

    /// Slots at `leaf` that stay empty after `gone` threads have dropped; the last leaves lose slots first.
    std::uint64_t missing_at(std::uint32_t leaf, std::uint64_t gone) const noexcept {
        const std::uint64_t missing = std::uint64_t{leaves_} * tickets_ - expected_ + gone;
        const std::uint64_t behind = std::uint64_t{leaves_ - 1 - leaf} * tickets_;
        return std::min(missing - std::min(missing, behind), tickets_);
    }

    /// Whether its thread has filled the leaf of a CPU whose threads have all met there for some phases, and that has
    /// no neighbour.
    bool is_last_of_cpu(std::uint64_t ticket) const noexcept {
        return near_ == LeafOf::cpu && (ticket & last_of_cpu) != 0 &&
               ticket / stride > stray_.load(std::memory_order_relaxed) + settled && !Sync::neighbours().here();
    }

    /// A thread has found no ticket at its CPU's leaf, so that more run there than meet there.
    void note_stray(std::uint64_t phase) noexcept {
        if (near_ == LeafOf::cpu && stray_.load(std::memory_order_relaxed) != phase)
            stray_.store(phase, std::memory_order_relaxed);
    }

    /// How many leaves have the same middle node as this one.
    std::uint32_t siblings(std::uint32_t middle) const noexcept {
        return std::min(most_children, leaves_ - middle * most_children);
    }

    /// Goes on to the root for a leaf whose last ticket was taken; the last one there ends the phase.
    /// Memory order: release for those who filled other leaves, acquire of all who came before.
    template <class Complete>
    void filled(std::uint32_t leaf, std::uint64_t phase, Complete&& complete) noexcept {
        if (middles_ != 0) {
            const std::uint32_t middle = leaf / most_children;
            if (!is_last(middle_[middle].word, phase, siblings(middle))) return;
        }
        if (!is_last(root_.word, phase, middles_ != 0 ? middles_ : leaves_)) return;
        complete();
        release(leaf, phase + 1);
    }

    static bool is_last(Word<Sync>& word, std::uint64_t phase, std::uint64_t children) noexcept {
        return word.fetch_add(1, std::memory_order_seq_cst) + 1 == (phase + 1) * children;
    }

    /// Opens the next phase, at the caller's leaf last: the others have farther to go.
    void release(std::uint32_t own, std::uint64_t next) noexcept {
        const std::uint64_t gone = gone_.load(std::memory_order_relaxed);
        if (gone != 0) fill_for_the_gone(gone);
        for_each_leaf_from(own, [&](std::uint32_t leaf) {
            leaf_[leaf].word.store(next * stride + missing_at(leaf, gone), std::memory_order_release);
        });
        Sync::full_fence();  // orders the stores before the looks; pairs with park()
        for_each_leaf_from(own, [&](std::uint32_t leaf) {
            Sleepers<Sync>& sleepers = leaf_[leaf].sleepers;
            if (const std::uint64_t seen = sleepers.look(std::memory_order_relaxed); seen != 0)
                sleepers.wake(leaf_[leaf].word, seen, next, Scope::process);
        });
    }

    template <class Visit>
    void for_each_leaf_from(std::uint32_t own, Visit&& visit) const noexcept {
        for (std::uint32_t leaf = own + 1; leaf < leaves_; ++leaf) visit(leaf);
        for (std::uint32_t leaf = 0; leaf <= own; ++leaf) visit(leaf);
    }

    /// Goes to the root, in the phase that is to begin, for leaves whose threads have all left.
    void fill_for_the_gone(std::uint64_t gone) noexcept {
        for (std::uint32_t leaf = leaves_; leaf-- > 0 && missing_at(leaf, gone) == tickets_;) {
            const bool first = leaf % most_children == 0;
            if (middles_ != 0) middle_[leaf / most_children].word.fetch_add(1, std::memory_order_relaxed);
            if (middles_ == 0 || first) root_.word.fetch_add(1, std::memory_order_relaxed);
        }
    }

    // Never written: stays in everybody's cache.
    std::uint64_t expected_;
    std::uint64_t tickets_;
    LeafOf near_;
    std::uint32_t leaves_;
    std::uint32_t middles_;
    std::unique_ptr<Leaf[]> leaf_;
    std::unique_ptr<Node[]> middle_;

    alignas(line_bytes) Word<Sync> gone_{0};
    Word<Sync> stray_{0};  ///< the latest phase with one, where leaves are CPUs'
    Node root_;
};

/// Barriers of fewer threads always use one word.
inline constexpr std::uint64_t fewest_for_leaves = 4;

/// Returns leaves for `expected` threads: of clusters where there are more threads than cores that share a cache (10
/// where many do), of CPUs where there are at least two for each that this process may use, up to 65536; in between,
/// and on one CPU, one word is faster: nullptr. Without memory: nullptr.
std::unique_ptr<Leaves<NativeSync>> leaves_for(std::uint64_t expected) noexcept;

}  // namespace tollbar::detail
#pragma GCC visibility pop
