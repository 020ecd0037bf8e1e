// SPDX-License-Identifier: Apache-2.0
// The barriers between threads of Seyedroudbari and Kadiyala 2020, corrected, with what the paper proposes to do about
// contention: templates, so that the same source runs on hardware and on simulated caches.
#pragma once

#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/waiting.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tollbar::published {

using namespace detail;

/// The time between two looks at a word that is awaited.
struct Looks {
    double delay_ns = 0;     ///< before each look; 0: one pause, between looks
    double longest_ns = 0;   ///< delays double up to here; 0: they stay as they are
    bool gives_way = false;  ///< sched_yield after each delay: for more threads than CPUs
};

/// Looks until the value of the word is as wanted. Memory order: acquire, pairs with the store that makes it so.
template <class Sync>
class Waiter {
public:
    explicit Waiter(Looks looks) noexcept : looks_(looks) {}

    template <class Wanted>
    void until(const Wanted& wanted) const noexcept {
        double ns = looks_.delay_ns;
        if (ns > 0) delay(ns);
        while (!wanted()) {
            if (looks_.gives_way) Sync::yield();
            if (ns == 0) {
                Sync::pause();
                continue;
            }
            if (2 * ns <= looks_.longest_ns) ns *= 2;
            delay(ns);
        }
    }

    void await(const Word<Sync>& word, std::uint64_t value) const noexcept {
        until([&] { return word.load(std::memory_order_acquire) == value; });
    }

private:
    static void delay(double ns) noexcept {
        if constexpr (requires { Sync::delay(ns); }) {
            Sync::delay(ns);
        } else {
            using Clock = std::chrono::steady_clock;
            const auto end = Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
            while (Clock::now() < end) Sync::pause();
        }
    }

    Looks looks_;
};

/// `#pragma omp critical`: a lock that is taken when it looks free.
template <class Sync>
class Critical {
public:
    /// Memory order: acquire of what was done inside before, release of what is done inside now.
    template <class Inside>
    auto run(const Waiter<Sync>& waiter, const Inside& inside) noexcept {
        waiter.until([&] {
            std::uint64_t open = 0;
            return taken_.load(std::memory_order_relaxed) == 0 &&
                   taken_.compare_exchange_weak(open, 1, std::memory_order_acquire, std::memory_order_relaxed);
        });
        const auto result = inside();
        if constexpr (requires { Sync::order_stores(); }) Sync::order_stores();
        taken_.store(0, std::memory_order_release);  // pairs with the acquire of whoever takes it next
        return result;
    }

private:
    alignas(line_bytes) Word<Sync> taken_{0};
};

/// How Algorithm 1 counts: one atomic subtraction, or a subtraction in a critical section, as it is printed. Either way
/// the thread that takes the last one knows by its own result; the printed test reads the counter again, so that two
/// threads may find 0.
enum class Counting : std::uint8_t { atomic, critical };

/// Algorithm 1: the last to arrive resets the counter and flips the sense that the others poll, in the same line.
template <class Sync>
class SenseReversing {
public:
    SenseReversing(std::uint64_t threads, Counting counting, Looks looks) noexcept
        : threads_(threads), counting_(counting), waiter_(looks), arrival_({.gives_way = looks.gives_way}) {
        left_.store(threads, std::memory_order_relaxed);
    }

    /// Memory order: what any thread wrote before it called this is visible to every thread after it returns.
    void episode() noexcept {
        const std::uint64_t current = sense_.load(std::memory_order_relaxed);  // cannot flip before the caller arrives
        if (!arrives_last()) return waiter_.await(sense_, 1 - current);
        left_.store(threads_, std::memory_order_relaxed);
        sense_.store(1 - current, std::memory_order_release);  // pairs with the acquire in await()
    }

private:
    bool arrives_last() noexcept {
        if (counting_ == Counting::atomic) return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
        return critical_.run(arrival_, [&] {
            const std::uint64_t left = left_.load(std::memory_order_relaxed) - 1;
            left_.store(left, std::memory_order_relaxed);
            return left == 0;
        });
    }

    std::uint64_t threads_;
    Counting counting_;
    Waiter<Sync> waiter_, arrival_;
    Critical<Sync> critical_;
    alignas(line_bytes) Word<Sync> left_{0};
    Word<Sync> sense_{0};
};

/// The layout of the arrival flags of a node's children: side by side in the node's line, or each in a line of its own.
enum class Flags : std::uint8_t { one_line, own_lines };

/// The part of Algorithm 2 besides its trees: nothing, or a phase that gates arrival, and a counter of those woken, in
/// a critical section, whose last one opens the phase again.
enum class Gate : std::uint8_t { none, phase };

/// Algorithm 2: four children a node report by flags, two are woken by each. Flags are told once and taken back by
/// whoever awaited them; as printed they may stay from one episode to the next.
template <class Sync>
class McsFlags {
public:
    McsFlags(std::uint64_t threads, Flags flags, Gate gate, Looks looks)
        : threads_(threads), gate_(gate), stride_(flags == Flags::one_line ? 1 : children), nodes_(threads * stride_),
          waiter_(looks) {
        phase_.word.store(1, std::memory_order_relaxed);
    }

    /// Memory order: what any thread wrote before it called this is visible to every thread after it returns.
    void episode(std::uint64_t self) noexcept {
        if (gate_ == Gate::phase) waiter_.await(phase_.word, 1);
        for (std::uint64_t child = 0; child < children && children * self + child + 1 < threads_; ++child)
            take(arrived(self, child));
        if (self != 0) {
            tell(arrived((self - 1) / children, (self - 1) % children));
            take(woken(self));
        } else if (gate_ == Gate::phase) {
            phase_.word.store(0, std::memory_order_relaxed);  // seen with the wake-up
        }
        for (std::uint64_t child = 2 * self + 1; child <= 2 * self + 2 && child < threads_; ++child) tell(woken(child));
        if (gate_ == Gate::phase) count_woken();
    }

private:
    static constexpr std::uint64_t children = 4;

    struct alignas(line_bytes) SharedLine {
        std::array<Word<Sync>, children> arrived{};
        Word<Sync> woken{0};
    };
    struct alignas(line_bytes) Lone {
        Word<Sync> word{0};
    };

    Word<Sync>& arrived(std::uint64_t node, std::uint64_t child) noexcept {
        return stride_ == 1 ? nodes_[node].arrived[child] : nodes_[node * stride_ + child].arrived[0];
    }
    Word<Sync>& woken(std::uint64_t node) noexcept { return nodes_[node * stride_].woken; }

    static void tell(Word<Sync>& flag) noexcept {
        flag.store(1, std::memory_order_release);  // pairs with the acquire in take()
    }
    void take(Word<Sync>& flag) const noexcept {
        waiter_.await(flag, 1);
        flag.store(0, std::memory_order_relaxed);  // set again only by a child that has seen this episode's end
    }

    void count_woken() noexcept {
        critical_.run(waiter_, [&] {
            const std::uint64_t now = all_woken_.word.load(std::memory_order_relaxed) + 1;
            all_woken_.word.store(now == threads_ ? 0 : now, std::memory_order_relaxed);
            if (now == threads_)
                phase_.word.store(1, std::memory_order_release);  // pairs with the acquire in episode()
            return now;
        });
    }

    std::uint64_t threads_;
    Gate gate_;
    std::uint64_t stride_;  ///< lines of a node
    std::vector<SharedLine> nodes_;
    Waiter<Sync> waiter_;
    Critical<Sync> critical_;
    Lone phase_, all_woken_;
};

/// One of them, under the name that programs and simulators give it.
struct Form {
    std::string_view name;
    Looks looks{};
    Counting counting = Counting::atomic;
    bool tree = false;
    Flags flags = Flags::one_line;
    Gate gate = Gate::none;
};

/// Algorithm 1.
inline constexpr std::string_view sense_reversing = "sense_reversing";

inline constexpr std::array forms{
    Form{.name = sense_reversing},
    Form{.name = "sense_reversing:critical", .counting = Counting::critical},
    Form{.name = "sense_reversing:100ns", .looks = {.delay_ns = 100}},
    Form{.name = "sense_reversing:400ns", .looks = {.delay_ns = 400}},
    Form{.name = "sense_reversing:1600ns", .looks = {.delay_ns = 1600}},
    Form{.name = "sense_reversing:doubling", .looks = {.delay_ns = 25, .longest_ns = 1600}},
    Form{.name = "mcs_flags:one_line", .tree = true},
    Form{.name = "mcs_flags:own_lines", .tree = true, .flags = Flags::own_lines},
    Form{.name = "mcs_phase:one_line", .tree = true, .gate = Gate::phase},
    Form{.name = "mcs_phase:own_lines", .tree = true, .flags = Flags::own_lines, .gate = Gate::phase},
};

}  // namespace tollbar::published
