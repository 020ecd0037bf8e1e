// SPDX-License-Identifier: Apache-2.0
// The barrier of threads without ranks: one word, or leaves where many threads meet, and how its threads wait.
#pragma once

#include <tollbar/detail/checked.hpp>
#include <tollbar/detail/leaves.hpp>
#include <tollbar/detail/turnstile.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstdint>

#pragma GCC visibility push(default)
namespace tollbar::detail {

/// How a thread without a rank waits.
template <class Backoff>
struct Manner {
    BasicWaitBudget<Backoff> budget;
    bool for_all;  ///< every other thread at the barrier waits in the same way
};

/// How one of `participants` unranked threads of this process waits: TOLLBAR_WAIT if set (read once), else automatic
/// for what masked_cpus() says and which threads that wait are pinned to the same CPU.
Manner<Backoff> manner_of_unranked(NativeSync, std::uint64_t participants) noexcept;

/// How the threads of one barrier wait: as manner_of_unranked() says. The answer is kept, so that a wait reads no word
/// that other threads write, and is asked for again when a spin failed.
///
///     kept.wait(turnstile, target, turnstile.expected(), Never{});
template <class Sync>
class KeptManner {
public:
    /// As the kept answer says, while spins pay; else the caller asks. Memory order: as `meeting.reached()`.
    template <class Meeting, class Deadline>
    [[gnu::always_inline]] bool wait(const Meeting& meeting, std::uint64_t target, std::uint64_t participants,
                                     Deadline deadline) noexcept {
        const WaitBudget budget = kept();
        auto& spinning = meeting.spinning(target);
        if (budget.spins != 0 && spinning.has_paid()) [[likely]]
            return spin_and_sleep<Sync>(AwaitedEnd<Meeting>{meeting, target}, budget.spins, &spinning, true, deadline);
        return wait_otherwise(meeting, target, participants, deadline);
    }

private:
    using WaitBudget = BasicWaitBudget<typename Sync::Backoff>;

    template <class Meeting, class Deadline>
    [[gnu::noinline]] bool wait_otherwise(const Meeting& meeting, std::uint64_t target, std::uint64_t participants,
                                          Deadline deadline) noexcept {
        const WaitBudget budget = kept();
        const bool known = budget.spins == 0 && budget.yields != 0;
        return meeting.wait(target, known ? budget : ask(participants), deadline);
    }

    WaitBudget kept() const noexcept {
        const std::uint64_t kept = kept_.load(std::memory_order_relaxed);
        return {static_cast<std::uint32_t>(kept >> 32), static_cast<std::uint32_t>(kept)};
    }

    /// Asks how the caller waits, and keeps an answer that is for all.
    [[gnu::noinline]] WaitBudget ask(std::uint64_t participants) noexcept {
        const auto manner = manner_of_unranked(Sync{}, participants);
        const std::uint64_t kept = manner.for_all ? std::uint64_t{manner.budget.spins} << 32 | manner.budget.yields : 0;
        // Stores only what is new: with leaves, no line is written by all threads in each phase.
        if (kept_.load(std::memory_order_relaxed) != kept) kept_.store(kept, std::memory_order_relaxed);
        return manner.budget;
    }

    Word<Sync> kept_{0};  ///< spins and yields; 0: not known, or not the same for all
};

/// Something that has reached() and sleep(), for KeptManner, where it is kept elsewhere whether spinning pays.
template <class Sync, class Meeting>
struct LearnedElsewhere {
    bool reached(std::uint64_t target) const noexcept { return meeting.reached(target); }
    auto& spinning(std::uint64_t) const noexcept { return backoff; }

    template <class Deadline>
    bool sleep(std::uint64_t target, Deadline deadline) const noexcept {
        return meeting.sleep(target, deadline);
    }

    template <class Deadline>
    bool wait(std::uint64_t target, BasicWaitBudget<typename Sync::Backoff> budget, Deadline deadline) const noexcept {
        budget.spinning = &backoff;
        return detail::wait<Sync>(AwaitedEnd<LearnedElsewhere>{*this, target}, budget, deadline);
    }

    const Meeting& meeting;
    typename Sync::Backoff& backoff;
};

/// Any number of threads without ranks, at one word or at leaves; a thread waits at either in the KeptManner.
///
///     Unranked<NativeSync> barrier(threads, nullptr);
///     const std::uint64_t target = barrier.arrive(1, completion);
///     barrier.wait(target, Never{});
///
/// Memory order: of each function, that of the same one of Turnstile.
template <class Sync, Closing closing = Closing::none>
class Unranked {
public:
    /// Owns the leaves, which expect as many; none: one word.
    constexpr Unranked(std::uint64_t expected, Leaves<Sync>* leaves) noexcept : turnstile_(expected), leaves_(leaves) {}
    Unranked(const Unranked&) = delete;
    Unranked& operator=(const Unranked&) = delete;
    constexpr ~Unranked() {
        if (leaves_ != nullptr) delete leaves_;
    }

    template <bool check = checked, class Complete>
    [[gnu::always_inline]] std::uint64_t arrive(std::uint64_t times, Complete&& complete) noexcept {
        if (leaves_ != nullptr) [[unlikely]]
            return arrive_at_leaf<check>(times, complete);
        return turnstile_.template arrive<check>(times, complete);
    }

    template <bool check = checked, class Complete>
    [[gnu::always_inline]] void arrive_and_wait(Complete&& complete) noexcept {
        if (leaves_ != nullptr) [[unlikely]]
            wait_at_leaf(arrive_at_leaf<check>(1, complete), Never{});
        else
            wait_at(turnstile_, turnstile_.template arrive<check>(1, complete), Never{});
    }

    template <bool check = checked, class Complete>
    [[gnu::always_inline]] void arrive_and_drop(Complete&& complete) noexcept {
        if (leaves_ != nullptr) [[unlikely]] {
            if constexpr (check) expect_room(1, static_cast<std::int64_t>(leaves_->room()));
            return leaves_->arrive_and_drop(complete);
        }
        turnstile_.template arrive_and_drop<check>(complete);
    }

    bool reached(std::uint64_t target) const noexcept {
        return leaves_ == nullptr ? turnstile_.reached(target) : leaves_->reached(target);
    }

    template <class Deadline>
    bool wait(std::uint64_t target, Deadline deadline) const noexcept {
        if (leaves_ != nullptr) [[unlikely]]
            return wait_at_leaf(target, deadline);
        return wait_at(turnstile_, target, deadline);
    }

private:
    template <bool check, class Complete>
    [[gnu::noinline]] std::uint64_t arrive_at_leaf(std::uint64_t times, Complete& complete) noexcept {
        if constexpr (check) expect_room(static_cast<std::int64_t>(times), static_cast<std::int64_t>(leaves_->room()));
        return leaves_->arrive(times, complete);
    }

    template <class Deadline>
    [[gnu::noinline]] bool wait_at_leaf(std::uint64_t target, Deadline deadline) const noexcept {
        return wait_at(*leaves_, target, deadline);
    }

    template <class Meeting, class Deadline>
    [[gnu::always_inline]] bool wait_at(const Meeting& meeting, std::uint64_t target,
                                        Deadline deadline) const noexcept {
        return manner_.wait(meeting, target, turnstile_.expected(), deadline);
    }

    Turnstile<Sync, closing> turnstile_;
    Leaves<Sync>* leaves_;
    mutable KeptManner<Sync> manner_;
};

}  // namespace tollbar::detail
#pragma GCC visibility pop
