// SPDX-License-Identifier: Apache-2.0
// The published barriers between threads, with a CPU for each and with too few: nobody leaves early, everybody leaves.
#include "published.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::published;

namespace {

constexpr std::uint64_t episodes = TOLLBAR_SANITIZED ? 300 : 3000;

/// Threads pay a plain word each before an episode and read all of them after it, and one of them, in turn, comes when
/// all others have; gives how many were found unpaid.
std::uint64_t unpaid(std::uint64_t threads, const auto& episode) {
    struct alignas(line_bytes) Toll {
        std::uint64_t paid[2] = {0, 0};
        std::uint64_t unpaid = 0;
    };
    std::vector<Toll> tolls(threads);
    std::atomic<std::uint64_t> arrived{0};
    const auto run = [&](std::uint64_t self) {
        for (std::uint64_t number = 1; number <= episodes; ++number) {
            if (number % threads == self)
                while (arrived.load(std::memory_order_relaxed) < number * (threads - 1)) std::this_thread::yield();
            else
                arrived.fetch_add(1, std::memory_order_relaxed);
            tolls[self].paid[number % 2] = number;
            episode(self);
            for (const Toll& toll : tolls) tolls[self].unpaid += toll.paid[number % 2] != number ? 1 : 0;
        }
    };
    std::vector<std::thread> others;
    for (std::uint64_t self = 1; self < threads; ++self) others.emplace_back(run, self);
    run(0);
    for (std::thread& other : others) other.join();
    std::uint64_t all = 0;
    for (const Toll& toll : tolls) all += toll.unpaid;
    return all;
}

std::uint64_t unpaid(const Form& form, std::uint64_t threads, bool gives_way) {
    Looks looks = form.looks;
    looks.gives_way = gives_way;
    if (form.tree) {
        McsFlags<NativeSync> tree(threads, form.flags, form.gate, looks);
        return unpaid(threads, [&](std::uint64_t self) { tree.episode(self); });
    }
    SenseReversing<NativeSync> counter(threads, form.counting, looks);
    return unpaid(threads, [&](std::uint64_t) { counter.episode(); });
}

}  // namespace

TEST_CASE("no thread leaves a published barrier before the last has entered") {
    for (const Form& form : forms)
        for (const std::uint64_t threads : {1U, 2U, 3U, 5U, 8U, 16U}) {
            CAPTURE(std::string(form.name));
            CAPTURE(threads);
            CHECK(unpaid(form, threads, true) == 0);
        }
}

TEST_CASE("two threads that only poll come to the end of a published barrier") {
    for (const Form& form : forms) {
        CAPTURE(std::string(form.name));
        CHECK(unpaid(form, 2, false) == 0);
    }
}
