// SPDX-License-Identifier: Apache-2.0
// The barrier of many threads without ranks: tickets at leaves near the caller, a root for those who fill a leaf, and
// a release for each leaf, in a line to which no arrival adds (docs/design/leaves.md).
#pragma once

#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/waiting.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// The threads that meet at a leaf: those that run on neighbouring cores, or, where each CPU has several, on one CPU.
enum class LeafOf : std::uint8_t { group, cpu };

/// Any number of threads without ranks, on many cores. Each phase has a ticket for every arrival that it expects. An
/// arrival takes one at the leaf of its CPU's neighbours, or next door where all are taken; the arrival with a leaf's
/// last ticket goes on to the root, and the last one there releases all leaves, each by one store.
///
///     Leaves<NativeSync> leaves(threads, 4);
///     const std::uint64_t ticket = leaves.arrive(1, completion);
///     leaves.wait(ticket, budget, Never{});
///
/// A leaf's count of tickets taken only grows, by the leaf's size in each phase: no release resets it, so its line
/// stays near the threads that add to it. An arrival that finds no ticket at a leaf takes its addition back before it
/// arrives elsewhere. Memory: 256 bytes a leaf, 128 a middle node, 384 itself.
template <class Sync>
class Leaves {
public:
    /// More children than that have a level of nodes between them and the root.
    static constexpr std::uint32_t most_children = 4;

    /// A leaf of each size, at least one, all at least 1: their sum is how many arrivals a phase expects. So many
    /// neighbouring groups of cores (Sync::group) have the same leaf. Allocates; throws std::bad_alloc.
    explicit Leaves(std::span<const std::uint32_t> sizes, std::uint32_t groups = 1, LeafOf near = LeafOf::group)
        : groups_(groups), near_(near), leaves_(static_cast<std::uint32_t>(sizes.size())),
          middles_(leaves_ > most_children ? (leaves_ + most_children - 1) / most_children : 0),
          leaf_(std::make_unique<Leaf[]>(leaves_)),
          middle_(middles_ == 0 ? nullptr : std::make_unique<Node[]>(middles_)) {
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
            leaf_[leaf].size = sizes[leaf];
            leaf_[leaf].of = this;
            expected_ += sizes[leaf];
        }
    }

    /// Leaves of `size`, but for the last one, for `expected` arrivals: both at least 1. As above.
    Leaves(std::uint64_t expected, std::uint32_t size, LeafOf near = LeafOf::group)
        : Leaves(sizes_of(expected, size), 1, near) {}

    Leaves(const Leaves&) = delete;
    Leaves& operator=(const Leaves&) = delete;

    std::uint64_t expected() const noexcept { return expected_; }

    /// Arrives `times` (at least 1, at most what the phase still expects) and returns the ticket for wait(): how many
    /// phases have to be over, and in its low part the leaf. The last arrival of a phase runs `complete`, then
    /// releases. Waits for nothing. Memory order: as Turnstile::arrive().
    template <class Complete>
    std::uint64_t arrive(std::uint64_t times, Complete&& complete) noexcept {
        const std::uint32_t home = home_of_caller();
        std::uint64_t phase = leaf_[home].over.load(std::memory_order_relaxed);
        std::uint64_t filler = 0;
        for (std::uint32_t tried = 0, at = home;; at = at + 1 == leaves_ ? 0 : at + 1) {
            const std::uint64_t size = leaf_[at].size;
            if (tried > leaves_) phase = phases_over();  // is another only after more arrivals than were expected
            // Neighbours are known to be full once they have been looked at; the first leaf mostly has a ticket.
            if (tried++ == 0 || leaf_[at].taken.load(std::memory_order_relaxed) < (phase + 1) * size) {
                const std::uint64_t wanted = std::min(times, size);
                const std::uint64_t before = leaf_[at].taken.fetch_add(wanted, std::memory_order_seq_cst);
                // The leaf is full, or the caller was released at another one before the release has come to this. With
                // a ticket of this phase it has arrived, and the phase may be over by now; without, it is not.
                if (tried == 1 && before - phase * size >= size) phase = std::min(before / size, phases_over());
                const std::uint64_t end = (phase + 1) * size;
                const std::uint64_t got = before < end ? std::min(wanted, end - before) : 0;
                // The caller still owes this phase an arrival, so none of the next comes to this leaf meanwhile.
                if (got != wanted) leaf_[at].taken.fetch_sub(wanted - got, std::memory_order_relaxed);
                times -= got;
                if (got != 0 && at != home) note_stray(phase);
                if (got != 0 && before + got == end) {
                    filled(at, phase, complete);
                    filler = last_of_cpu;
                }
                if (times == 0) return (phase + 1) * stride + filler + at;
            }
        }
    }

    /// How many arrivals the phase still expects, as far as leaves show that others write meanwhile: never fewer.
    /// Memory order: relaxed.
    std::uint64_t room() const noexcept {
        const std::uint64_t phase = phases_over();
        std::uint64_t room = 0;
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
            const std::uint64_t size = leaf_[leaf].size, begin = phase * size;
            const std::uint64_t taken = std::max(leaf_[leaf].taken.load(std::memory_order_relaxed), begin) - begin;
            room += size - std::min(taken, size);
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
        return leaf_[leaf_of(ticket)].over.load(std::memory_order_acquire) >= phases_of(ticket);
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
        return park(leaf.over, phases_of(ticket), leaf.sleepers, phases_of(ticket), Waking{}, deadline);
    }

    /// How many phases are over once a ticket's is.
    static constexpr std::uint64_t phases_of(std::uint64_t ticket) noexcept { return ticket / stride; }

    /// Ends every wait of the phase that the caller still owes an arrival, and of all later ones: it never will be
    /// over. Waits for the release of the phase before. Any number of threads may, at the same time too. Memory order:
    /// release of what the caller did before.
    void abandon() noexcept {
        const std::uint64_t over = phases_over();
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
            wait(over * stride + leaf, {.spins = 0, .yields = most_yields}, Never{});
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
            leaf_[leaf].over.store(abandoned + over + 1, std::memory_order_release);
        Sync::full_fence();  // has the stores before the looks; pairs with park()
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
            if (leaf_[leaf].sleepers.look(std::memory_order_relaxed) != 0)
                Sync::wake(leaf_[leaf].over, Sync::everybody, Scope::process);
    }

    /// Makes it as new, but for those who have dropped. Nobody else may know it.
    void reset() noexcept {
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
            leaf_[leaf].taken.store(0, std::memory_order_relaxed);
            leaf_[leaf].over.store(0, std::memory_order_relaxed);
        }
        for (std::uint32_t middle = 0; middle < middles_; ++middle)
            middle_[middle].word.store(0, std::memory_order_relaxed);
        root_.word.store(0, std::memory_order_relaxed);
        stray_.store(0, std::memory_order_relaxed);
    }

private:
    friend struct Outside;  // what `tollbar who` reads of it: src/look/own_barriers.cpp

    /// A ticket is so many times the phases that have to be over, and the leaf.
    static constexpr std::uint64_t stride = std::uint64_t{1} << 20;

    /// Abandoned leaves say that so many more phases are over; the half of the word on which threads sleep changes too.
    static constexpr std::uint64_t abandoned = std::uint64_t{1} << 43;

    /// So many phases without strays, and the threads of a leaf are those of its CPU.
    static constexpr std::uint64_t settled = 64;

    /// In a ticket: its arrival filled a leaf.
    static constexpr std::uint64_t last_of_cpu = stride / 2;

    struct alignas(line_bytes) Leaf {
        Word<Sync> taken{0};  ///< tickets, in all phases
        // The releasing thread has this line then, so its look at the sleepers is no miss.
        alignas(line_bytes) Word<Sync> over{0};  ///< phases, as far as the release has come
        SleeperCounts<Sync> sleepers;            ///< hardly ever written, as the next
        typename Sync::Backoff spinning;
        std::uint64_t size = 0;      ///< tickets in each phase; never written
        const Leaves* of = nullptr;  ///< for a look from outside, which knows a leaf by its sleepers
    };

    struct alignas(line_bytes) Node {
        Word<Sync> word{0};
    };

    static constexpr std::uint64_t leaf_of(std::uint64_t ticket) noexcept { return ticket % last_of_cpu; }

    static std::vector<std::uint32_t> sizes_of(std::uint64_t expected, std::uint32_t size) {
        std::vector<std::uint32_t> sizes(static_cast<std::size_t>(expected / size), size);
        if (expected % size != 0) sizes.push_back(static_cast<std::uint32_t>(expected % size));
        return sizes;
    }

    /// The leaf of the caller's neighbours.
    std::uint32_t home_of_caller() const noexcept {
        const std::uint32_t number = near_ == LeafOf::group ? Sync::group() / groups_ : Sync::cpu();
        // The threads of a barrier may run on every second group, and yet share all leaves.
        return number < leaves_ ? number : (number + number / leaves_) % leaves_;
    }

    /// How many phases are over.
    /// Memory order: relaxed; at least as many as the caller knows to be over.
    std::uint64_t phases_over() const noexcept { return root_.word.load(std::memory_order_relaxed) / children(); }

    std::uint64_t children() const noexcept { return middles_ != 0 ? middles_ : leaves_; }

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
        if (!is_last(root_.word, phase, children())) return;
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
        for_each_leaf_from(own, [&](std::uint32_t leaf) { leaf_[leaf].over.store(next, std::memory_order_release); });
        Sync::full_fence();  // orders the stores before the looks; pairs with park()
        for_each_leaf_from(own, [&](std::uint32_t leaf) {
            SleeperCounts<Sync>& sleepers = leaf_[leaf].sleepers;
            if (const std::uint64_t seen = sleepers.look(std::memory_order_relaxed); seen != 0)
                sleepers.wake(leaf_[leaf].over, seen, next, Scope::process);
        });
    }

    template <class Visit>
    void for_each_leaf_from(std::uint32_t own, Visit&& visit) const noexcept {
        for (std::uint32_t leaf = own + 1; leaf < leaves_; ++leaf) visit(leaf);
        for (std::uint32_t leaf = 0; leaf <= own; ++leaf) visit(leaf);
    }

    /// Takes tickets in the phase that is to begin for threads that have left, those of the last leaves first, and goes
    /// to the root for leaves that have no others.
    void fill_for_the_gone(std::uint64_t gone) noexcept {
        for (std::uint32_t leaf = leaves_; leaf-- > 0 && gone != 0;) {
            const std::uint64_t missing = std::min(gone, leaf_[leaf].size);
            gone -= missing;
            leaf_[leaf].taken.fetch_add(missing, std::memory_order_relaxed);
            if (missing != leaf_[leaf].size) return;
            const bool first = leaf % most_children == 0;
            if (middles_ != 0) middle_[leaf / most_children].word.fetch_add(1, std::memory_order_relaxed);
            if (middles_ == 0 || first) root_.word.fetch_add(1, std::memory_order_relaxed);
        }
    }

    // Hardly ever written: stays in everybody's cache.
    std::uint64_t expected_ = 0;
    std::uint32_t groups_;
    LeafOf near_;
    std::uint32_t leaves_;
    std::uint32_t middles_;
    std::unique_ptr<Leaf[]> leaf_;
    std::unique_ptr<Node[]> middle_;
    Word<Sync> gone_{0};

    alignas(line_bytes) Word<Sync> stray_{0};  ///< the latest phase with one, where leaves are CPUs'
    Node root_;
};

/// Barriers of fewer threads always use one word.
inline constexpr std::uint64_t fewest_for_leaves = 4;

/// Returns leaves for `expected` threads: of groups of cores where there are more threads than cores that share a cache
/// (10 where many do), of CPUs where there are at least two for each that this process may use, up to 65536; in
/// between, and on one CPU, one word is faster: nullptr. Without memory: nullptr.
std::unique_ptr<Leaves<NativeSync>> leaves_for(std::uint64_t expected) noexcept;

}  // namespace tollbar::detail
#pragma GCC visibility pop
