// SPDX-License-Identifier: Apache-2.0
#include "scheduling.hpp"

#include "clock.hpp"
#include "cpus.hpp"
#include "json.hpp"

#include <sched.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

namespace tollbar::bench {

namespace {

constexpr unsigned rivals = 4;
constexpr double watched_ns = 120e6;
constexpr double gap_ns = 300e3;  // longer than an interrupt, shorter than three quanta
constexpr std::uint64_t wakes = 200;
constexpr std::size_t repeats = 7;

/// Reads the clock until `end`: where it jumps, somebody else had the CPU. Gives the stretches between two jumps.
std::vector<double> stretches_until(Ticks end) {
    std::vector<double> found;
    const Ticks gap = ticks_of(gap_ns);
    bool whole = false;  // the first stretch began before the watch did
    for (Ticks last = ticks(), began = last; last < end;) {
        const Ticks now = ticks();
        if (now - last > gap) {
            if (std::exchange(whole, true)) found.push_back(nanoseconds(last - began));
            began = now;
        }
        last = now;
    }
    return found;
}

std::vector<double> quanta(int cpu) {
    std::array<std::vector<double>, rivals> found;
    std::atomic<unsigned> present{0};
    std::vector<std::thread> threads;
    for (std::vector<double>& own : found)
        threads.emplace_back([&own, &present, cpu] {
            pin_to(cpu);
            present.fetch_add(1, std::memory_order_relaxed);
            while (present.load(std::memory_order_relaxed) != rivals) sched_yield();
            own = stretches_until(ticks() + ticks_of(watched_ns));
        });
    std::vector<double> all;
    for (unsigned i = 0; i < rivals; ++i) {
        threads[i].join();
        all.insert(all.end(), found[i].begin(), found[i].end());
    }
    return all;
}

/// Two threads on one CPU wake each other in turn and sleep: each turn is one switch.
double sleep_switch(int cpu) {
    std::array<sem_t, 2> turn{};
    for (sem_t& side : turn) sem_init(&side, 0, 0);
    std::array<double, repeats> samples{};
    std::thread other([&] {
        pin_to(cpu);
        for (std::uint64_t wake = 0; wake < (repeats + 1) * wakes; ++wake) {
            sem_wait(&turn[0]);
            sem_post(&turn[1]);
        }
    });
    std::thread timed([&] {
        pin_to(cpu);
        for (std::size_t repeat = 0; repeat <= repeats; ++repeat) {
            const Ticks start = ticks();
            for (std::uint64_t wake = 0; wake < wakes; ++wake) {
                sem_post(&turn[0]);
                sem_wait(&turn[1]);
            }
            if (repeat > 0) samples[repeat - 1] = nanoseconds(ticks() - start) / (2 * wakes);
        }
    });
    timed.join();
    other.join();
    for (sem_t& side : turn) sem_destroy(&side);
    std::ranges::nth_element(samples, samples.begin() + repeats / 2);
    return samples[repeats / 2];
}

}  // namespace

Scheduling measure_scheduling(int cpu) { return {.quanta = quanta(cpu), .sleep_switch = sleep_switch(cpu)}; }

void print_scheduling(const Scheduling& scheduling, std::uint32_t round) {
    Record("scheduling")
        .field("round", round)
        .field("quantum_ns", scheduling.quanta)
        .field("sleep_switch_ns", scheduling.sleep_switch)
        .print();
}

}  // namespace tollbar::bench
