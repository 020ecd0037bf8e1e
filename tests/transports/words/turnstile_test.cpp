// SPDX-License-Identifier: Apache-2.0
// The turnstile's word crosses every power of two that a counter could stumble over.
#include <tollbar/detail/turnstile.hpp>

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

constexpr WaitBudget spinning{WaitBudget::for_ever, 0};
constexpr WaitBudget yielding{0, WaitBudget::for_ever};
constexpr WaitBudget parking{0, 0};

/// Threads pay and check tolls for some phases; returns how many tolls were unpaid.
template <Closing closing>
std::uint64_t unpaid(std::uint64_t threads, std::uint64_t start, WaitBudget budget) {
    struct alignas(line_bytes) Toll {
        std::uint64_t paid[2] = {0, 0};
        std::uint64_t unpaid = 0;
    };
    constexpr std::uint64_t phases = 12;
    Turnstile<NativeSync, closing> turnstile(threads, start);
    std::vector<Toll> tolls(threads);
    std::uint64_t completed = 0;
    const auto run = [&](std::uint64_t self) {
        for (std::uint64_t phase = 1; phase <= phases; ++phase) {
            tolls[self].paid[phase % 2] = phase;
            const auto target = turnstile.arrive(1, [&]() noexcept { ++completed; });
            while (!turnstile.wait(target, budget, deadline_after(std::chrono::milliseconds(phase % 3)))) {
            }
            for (const Toll& toll : tolls) tolls[self].unpaid += toll.paid[phase % 2] != phase ? 1 : 0;
            if (closing == Closing::step) tolls[self].unpaid += completed < phase ? 1 : 0;
        }
    };
    std::vector<std::thread> others;
    for (std::uint64_t self = 1; self < threads; ++self) others.emplace_back(run, self);
    run(0);
    for (std::thread& other : others) other.join();
    CHECK(completed == (closing == Closing::step ? phases : 0));
    std::uint64_t unpaid = 0;
    for (const Toll& toll : tolls) unpaid += toll.unpaid;
    return unpaid;
}

}  // namespace

TEST_CASE("the turnstile's word crosses powers of two") {
    for (const int bits : {8, 16, 31, 32, 33, 62})
        for (const std::uint64_t threads : {1U, 2U, 3U, 5U})
            for (const WaitBudget budget : {spinning, yielding, parking}) {
                if (budget.spins != 0 && threads > 2) continue;
                CAPTURE(bits);
                CAPTURE(threads);
                CAPTURE(budget.spins);
                CAPTURE(budget.yields);
                const std::uint64_t edge = std::uint64_t{1} << bits;
                CHECK(unpaid<Closing::none>(threads, edge - 5 * threads, budget) == 0);
                CHECK(unpaid<Closing::step>(threads, edge - 5 * (threads + 1), budget) == 0);
            }
}

TEST_CASE("those who left are missed neither before nor after the phase's number crosses a power of two") {
    for (const int bits : {8, 16, 31, 32}) {
        constexpr std::uint64_t threads = 3;
        const std::uint64_t phase = (std::uint64_t{1} << bits) - 3;
        Turnstile<NativeSync> turnstile(threads, phase * threads);
        CAPTURE(bits);
        for (std::uint64_t left = 0; left < 2; ++left) {
            turnstile.arrive_and_drop();
            for (int phases = 0; phases < 4; ++phases) {
                std::uint64_t target = 0;
                for (std::uint64_t arrivals = left + 1; arrivals < threads; ++arrivals) {
                    target = turnstile.arrive(1);
                    CHECK(turnstile.reached(target) == (arrivals + 1 == threads));
                }
            }
        }
    }
}
