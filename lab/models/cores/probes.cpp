// SPDX-License-Identifier: Apache-2.0
// The microbenchmarks whose results others have published, on simulated caches.
#include <tollbar/models/cores.hpp>

#include "caches.hpp"
#include "sync.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tollbar::cores {

namespace {

void check_threads(const Machine& machine, std::uint32_t threads) {
    check(machine);
    if (threads < 1 || threads > machine.cores.size())
        throw std::invalid_argument("machine '" + machine.name + "' has " + std::to_string(machine.cores.size()) +
                                    " cores, not " + std::to_string(threads));
}

/// The mean time of what `threads` threads do so many times each.
template <class Once>
double all_at_once(const Machine& machine, std::uint32_t threads, const Once& once) {
    constexpr int times = 60;
    check_threads(machine, threads);
    std::vector<std::uint32_t> cores(threads);
    std::iota(cores.begin(), cores.end(), 0);
    Caches caches(machine, cores, 1);
    double end = 0;
    caches.run([&](Thread) {
        for (int time = 0; time < times; ++time) once();
        end = std::max(end, caches.now());
    });
    return end / times / threads;
}

}  // namespace

double one_way_ns(const Machine& machine, std::uint32_t from, std::uint32_t to) {
    constexpr std::uint64_t warm_up = 100;
    constexpr std::uint64_t trips = 300;
    check_threads(machine, std::max(from, to) + 1);
    if (from == to) throw std::invalid_argument("a line goes from one core to another, not to itself");
    Caches caches(machine, {from, to}, 1);
    LoneWord line;
    double begin = 0;
    caches.run([&](Thread self) {
        for (std::uint64_t trip = 1; trip <= warm_up + trips; ++trip) {
            if (self == 1) await_at_least(line.word, 2 * trip - 1);
            line.word.store(2 * trip - 1 + self, relaxed);
            if (self == 0) await_at_least(line.word, 2 * trip);
            if (self == 0 && trip == warm_up) begin = caches.now();
        }
    });
    return (caches.now() - begin) / (2 * trips);
}

double contended_add_ns(const Machine& machine, std::uint32_t threads) {
    LoneWord line;
    return all_at_once(machine, threads, [&] { line.word.fetch_add(1, relaxed); });
}

double polled_add_ns(const Machine& machine, std::uint32_t threads) {
    struct alignas(line_bytes) Lock {
        Word<SimulatedSync> next{0};
        Word<SimulatedSync> serving{0};
    } lock;
    return all_at_once(machine, threads, [&] {
        const std::uint64_t mine = lock.next.fetch_add(1, relaxed);
        while (lock.serving.load(relaxed) != mine) continue;
        lock.serving.store(lock.serving.load(relaxed) + 1, relaxed);
    });
}

}  // namespace tollbar::cores
