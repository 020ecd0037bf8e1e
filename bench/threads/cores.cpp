// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-cores: what a cache line costs between the CPUs that are named, for `tollbar bench cores`.
// Prints one number, nanoseconds:
//
//     pair A B      one trip of a line between two threads that wait for each other
//     add CPU...    an addition to one word by a thread on each
//     lock CPU...   a hand-over of a ticket lock whose words share a line
//     pause CPU     one pause
#include "clock.hpp"
#include "cpus.hpp"

#include <tollbar/barrier.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace tollbar::bench {

namespace {

struct alignas(line_bytes) SharedLine {
    std::atomic<std::uint64_t> word{0};
    std::atomic<std::uint64_t> second{0};
};

/// Runs `work(thread)` on those CPUs at once, a few times; ns of the fastest time, from the common start to the last
/// end.
template <class Work>
double median_ns(const std::vector<int>& cpus, const Work& work) {
    constexpr std::size_t repeats = 25;
    std::array<double, repeats> ns{};
    barrier meeting(static_cast<std::ptrdiff_t>(cpus.size()));
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < cpus.size(); ++thread)
        threads.emplace_back([&, thread] {
            pin_to(cpus[thread]);
            for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
                meeting.arrive_and_wait();
                const Ticks start = ticks();
                work(thread);
                meeting.arrive_and_wait();
                if (thread == 0) ns[repeat] = nanoseconds(ticks() - start);
            }
        });
    threads.clear();
    std::ranges::nth_element(ns, ns.begin() + repeats / 2);  // in the fastest one may have run after the other
    return ns[repeats / 2];
}

double measure(std::string_view what, const std::vector<int>& cpus) {
    constexpr std::uint64_t times = 10'000;
    const double all = static_cast<double>(times) * static_cast<double>(cpus.size());
    SharedLine line;
    if (what == "pause")
        return median_ns(cpus,
                         [](std::size_t) {
                             for (std::uint64_t i = 0; i < times; ++i) NativeSync::pause();
                         }) /
               all;
    if (what == "pair")
        return median_ns(cpus,
                         [&](std::size_t thread) {
                             const std::uint64_t from = line.second.load(std::memory_order_relaxed);
                             for (std::uint64_t i = 0; i < times; ++i) {
                                 const std::uint64_t mine = from + 2 * i + thread;
                                 while (line.word.load(std::memory_order_acquire) != mine) NativeSync::pause();
                                 line.word.store(mine + 1,
                                                 std::memory_order_release);  // pairs with the other thread's load
                             }
                             if (thread == 1) line.second.store(from + 2 * times, std::memory_order_relaxed);
                         }) /
               all;
    if (what == "add")
        return median_ns(cpus,
                         [&](std::size_t) {
                             for (std::uint64_t i = 0; i < times; ++i)
                                 line.word.fetch_add(1, std::memory_order_relaxed);
                         }) /
               all;
    return median_ns(cpus,
                     [&](std::size_t) {
                         for (std::uint64_t i = 0; i < times / 4; ++i) {
                             const std::uint64_t mine = line.word.fetch_add(1, std::memory_order_relaxed);
                             while (line.second.load(std::memory_order_acquire) != mine) continue;
                             line.second.store(mine + 1,
                                               std::memory_order_release);  // pairs with the next holder's load
                         }
                     }) /
           all * 4;
}

int main(int count, char** words) {
    const std::string_view what = count > 1 ? words[1] : "";
    std::vector<int> cpus;
    for (int word = 2; word < count; ++word) cpus.push_back(std::atoi(words[word]));
    const bool known = what == "pause" || what == "pair" || what == "add" || what == "lock";
    if (!known || cpus.empty() || (what == "pair" && cpus.size() != 2)) {
        std::fputs("usage: tollbar-bench-cores pair A B | add CPU... | lock CPU... | pause CPU\n", stderr);
        return 2;
    }
    std::printf("%.3f\n", measure(what, cpus));
    return 0;
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) { return tollbar::bench::main(count, words); }
