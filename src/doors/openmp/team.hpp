// SPDX-License-Identifier: Apache-2.0
// The word, or the leaves, at which the threads of an OpenMP team meet, and how the first task of a region sends all of
// them to the runtime's own barrier, alike and at once (docs/design/openmp.md).
#pragma once

#include <tollbar/detail/leaves.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace tollbar::detail::openmp {

/// The barriers of a region are numbered from 0, by each thread for itself. `word` counts arrivals, in steps of two.
/// The first task sets its highest bit, which ends every wait, and its lowest, so that the half changes on which
/// threads sleep.
///
///     const bool over = team.arrive(barrier, threads);
///     if (!over) wait<Sync>(team.end_of(barrier, threads), budget, Never{});
///     if (team.is_left_to_runtime(barrier)) ...
///
/// A team that has leaves for so many threads meets there in place of the word:
///
///     Leaves<Sync>* const leaves = team.leaves_of(threads);
///     leaves->wait(leaves->arrive(1, nothing), budget, Never{});
///     if (team.is_left_to_runtime(barrier)) ...
template <class Sync>
class RegionTeam {
public:
    /// Makes it as new, for the next region. Nobody else may know it.
    void reset() noexcept {
        word_.store(0, std::memory_order_relaxed);
        if (first_task_.load(std::memory_order_relaxed) != none) {
            first_task_.store(none, std::memory_order_relaxed);
            may_have_rest_ = true;
        }
        if (may_have_rest_ && leaves_ != nullptr) leaves_->reset();
        may_have_rest_ = false;
    }

    /// Threads of the regions that follow meet at these leaves, if they are as many as expected there; none: at the
    /// word. Nobody else may know the team.
    void meet_at(std::unique_ptr<Leaves<Sync>> leaves) noexcept { leaves_ = std::move(leaves); }

    /// The leaves of so many threads; none: they meet at the word.
    Leaves<Sync>* leaves_of(std::uint64_t threads) const noexcept {
        return leaves_ != nullptr && leaves_->expected() == threads ? leaves_.get() : nullptr;
    }

    /// Threads of a region will not come to its end: for the next reset(), which does not look at leaves otherwise.
    void note_rest() noexcept { may_have_rest_ = true; }

    /// Arrives at a barrier, the last of `threads` releases it. True when the wait is over for the caller.
    /// Memory order: release of what the caller did before; when true, acquire of all arrivals.
    bool arrive(std::uint64_t barrier, std::uint64_t threads) noexcept {
        const std::uint64_t end = end_at(barrier, threads);
        const std::uint64_t reached = word_.fetch_add(step, std::memory_order_seq_cst) + step;
        if (reached == end) wake_sleepers_after_add(word_, sleepers_, barrier + 1, Waking{});
        return reached >= end;
    }

    /// The end of a barrier, for wait(). Memory order: acquire of all arrivals, or of the first task's flag.
    AwaitedWord<Sync> end_of(std::uint64_t barrier, std::uint64_t threads) noexcept {
        return {word_, end_at(barrier, threads), sleepers_, barrier + 1, Waking{}};
    }

    /// Whether the runtime's barrier has to be called for a barrier whose wait is over. The same for all threads:
    /// what decides is the number of the barrier before which the first task was made.
    /// The word is not looked at again: the others write it in the next barrier already.
    /// Memory order: relaxed; the wait has acquired what was noted before this barrier, and what comes later is no
    /// matter.
    bool is_left_to_runtime(std::uint64_t barrier) const noexcept {
        return first_task_.load(std::memory_order_relaxed) <= barrier;
    }

    /// Before a thread that arrives at `barrier` next makes a task. Everybody who waits there goes to the runtime.
    /// Memory order: release of the number, by the flag.
    void note_task(std::uint64_t barrier) noexcept {
        if (word_.load(std::memory_order_relaxed) >= tasks) return;
        std::uint64_t first = first_task_.load(std::memory_order_relaxed);
        while (barrier < first && !first_task_.compare_exchange_weak(first, barrier, std::memory_order_relaxed,
                                                                     std::memory_order_relaxed)) {
        }
        word_.fetch_or(tasks | changed_half, std::memory_order_seq_cst);
        if (sleepers_.look(std::memory_order_seq_cst) != 0) Sync::wake(word_, Sync::everybody, Scope::process);
        if (leaves_ != nullptr) leaves_->abandon();
    }

    /// Whether spinning has paid for those who meet here.
    typename Sync::Backoff& spinning() noexcept { return spinning_; }

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    static constexpr std::uint64_t tasks = std::uint64_t{1} << 63;
    static constexpr std::uint64_t changed_half = 1;
    static constexpr std::uint64_t step = 2;

    static constexpr std::uint64_t end_at(std::uint64_t barrier, std::uint64_t threads) noexcept {
        return step * threads * (barrier + 1);
    }

    alignas(line_bytes) Word<Sync> word_{0};
    alignas(line_bytes) Word<Sync> first_task_{none};  ///< the barrier before which the first task was made
    typename Sync::Backoff spinning_;
    Sleepers<Sync> sleepers_;
    std::unique_ptr<Leaves<Sync>> leaves_;  ///< written between regions
    bool may_have_rest_ = false;            ///< arrivals of a region at leaves that no phase has used up
};

}  // namespace tollbar::detail::openmp
