// SPDX-License-Identifier: Apache-2.0
// The least times of the machine: one cache-line transfer, one exchange, one switch; and how long a quantum is.
#include "floors.hpp"

#include "clock.hpp"
#include "cpus.hpp"
#include "record.hpp"

#include <tollbar/detail/sync.hpp>

#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace tollbar::bench {

namespace {

using Word = std::atomic<std::uint64_t>;

struct alignas(line_bytes) SharedLine {
    Word word{0};
};

constexpr std::uint64_t trips = 400;
constexpr std::size_t repeats = 7;
using Samples = std::array<double, repeats>;

double median(Samples samples) {
    std::ranges::nth_element(samples, samples.begin() + repeats / 2);
    return samples[repeats / 2];
}

/// Memory order: acquire; pairs with the release of the other side's store.
template <class Relax>
void await(const Word& word, std::uint64_t value, Relax relax) {
    while (word.load(std::memory_order_acquire) < value) relax();
}

/// Runs one side on each of two CPUs, or both on one; the first side is timed and gives ns a trip.
template <class First, class Second>
double median_of_two_sides(int cpu, int other_cpu, First first, Second second) {
    Samples samples{};
    std::thread other([&] {
        pin_to(other_cpu);
        for (std::size_t i = 0; i <= repeats; ++i) second(i * trips);
    });
    std::thread timed([&] {
        pin_to(cpu);
        first(0);  // brings both sides and the lines into place
        for (std::size_t i = 1; i <= repeats; ++i) {
            const Ticks start = ticks();
            first(i * trips);
            samples[i - 1] = nanoseconds(ticks() - start) / static_cast<double>(trips);
        }
    });
    timed.join();
    other.join();
    return median(samples);
}

/// One word is written in turn: 2k-1 by the first side, 2k by the second; a round trip is two transfers.
template <class Relax>
double one_way(const std::vector<int>& cpus, Relax relax) {
    SharedLine line;
    const double round_trip = median_of_two_sides(
        cpus[0], cpus[1],
        [&](std::uint64_t done) {
            for (std::uint64_t k = done + 1; k <= done + trips; ++k) {
                line.word.store(2 * k - 1, std::memory_order_release);  // pairs with await() of the second side
                await(line.word, 2 * k, relax);
            }
        },
        [&](std::uint64_t done) {
            for (std::uint64_t k = done + 1; k <= done + trips; ++k) {
                await(line.word, 2 * k - 1, relax);
                line.word.store(2 * k, std::memory_order_release);  // pairs with await() of the first side
            }
        });
    return round_trip / 2;
}

double exchange(const std::vector<int>& cpus) {
    std::array<SharedLine, 2> lines;
    const auto side = [&](Word& own, const Word& others) {
        return [&own, &others](std::uint64_t done) {
            for (std::uint64_t k = done + 1; k <= done + trips; ++k) {
                own.store(k, std::memory_order_release);  // pairs with await() of the other side
                await(others, k, NativeSync::pause);
            }
        };
    };
    return median_of_two_sides(cpus[0], cpus[1], side(lines[0].word, lines[1].word),
                               side(lines[1].word, lines[0].word));
}

/// act(member) in as many threads on that CPU at once.
template <class Act>
void together(int cpu, unsigned members, Act act) {
    std::atomic<unsigned> present{0};
    std::vector<std::thread> threads;
    for (unsigned member = 0; member < members; ++member)
        threads.emplace_back([&, member] {
            pin_to(cpu);
            present.fetch_add(1, std::memory_order_relaxed);
            while (present.load(std::memory_order_relaxed) != members) sched_yield();
            act(member);
        });
    for (std::thread& thread : threads) thread.join();
}

constexpr unsigned yields = 40;

/// The memory of a ring, which its members share even where they are processes.
struct Ring {
    std::atomic<bool> over{false};
    Samples samples{};

    /// The first member is timed; each of its yields costs a switch to everybody.
    void run(unsigned member, unsigned members) {
        if (member != 0) {
            while (!over.load(std::memory_order_relaxed)) sched_yield();
            return;
        }
        for (double& sample : samples) {
            const Ticks start = ticks();
            for (unsigned i = 0; i < yields; ++i) sched_yield();
            sample = nanoseconds(ticks() - start) / (yields * members);
        }
        over.store(true, std::memory_order_relaxed);
    }
};

/// Members that do nothing but yield, round robin on one CPU: a switch between threads, in ns.
double ring_of_threads(int cpu, unsigned members) {
    Ring ring;
    together(cpu, members, [&](unsigned member) { ring.run(member, members); });
    return median(ring.samples);
}

/// The same between processes, which the caller forks: each switch also changes the address space.
double ring_of_processes(int cpu, unsigned members) {
    void* const memory = mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    Ring& ring = *new (memory) Ring;
    std::vector<pid_t> children;
    for (unsigned member = members; member-- > 0;) {  // the timed one last, once all others are there
        const pid_t child = fork();
        if (child == 0) {
            pin_to(cpu);
            ring.run(member, members);
            _exit(0);
        }
        if (child < 0) ring.over.store(true, std::memory_order_relaxed);
        if (child > 0) children.push_back(child);
    }
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    const Samples samples = ring.samples;
    munmap(memory, sizeof(Ring));
    if (children.size() != members) throw std::runtime_error("the floors need processes that cannot be forked");
    return median(samples);
}

constexpr unsigned rivals = 4;
constexpr double watched_ns = 120e6;
constexpr double gap_ns = 300e3;  // longer than an interrupt, shorter than three quanta

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
    together(cpu, rivals, [&](unsigned member) { found[member] = stretches_until(ticks() + ticks_of(watched_ns)); });
    std::vector<double> all;
    for (const std::vector<double>& own : found) all.insert(all.end(), own.begin(), own.end());
    return all;
}

/// Two threads on one CPU wake each other in turn and sleep: a round trip is two switches.
double sleep_switch(int cpu) {
    std::array<sem_t, 2> turn{};
    for (sem_t& side : turn) sem_init(&side, 0, 0);
    const auto side = [&](sem_t& mine, sem_t& others, bool begins) {
        return [&mine, &others, begins](std::uint64_t) {
            for (std::uint64_t i = 0; i < trips; ++i) {
                if (begins) sem_post(&others);
                sem_wait(&mine);
                if (!begins) sem_post(&others);
            }
        };
    };
    const double round_trip = median_of_two_sides(cpu, cpu, side(turn[0], turn[1], true),
                                                  side(turn[1], turn[0], false));
    for (sem_t& each : turn) sem_destroy(&each);
    return round_trip / 2;
}

}  // namespace

std::optional<double> Floors::one_way() const {
    if (!one_way_pause || !one_way_tight) return std::nullopt;
    return std::min(*one_way_pause, *one_way_tight);
}

double Floors::yield_switch() const { return std::min(yield_switch_4, yield_switch_8); }

Floors measure_floors(const std::vector<int>& cpus, Among among) {
    Floors floors;
    if (cpus.size() >= 2) {
        floors.one_way_pause = one_way(cpus, NativeSync::pause);
        floors.one_way_tight = one_way(cpus, [] {});
        floors.exchange = exchange(cpus);
    }
    const auto ring = among == Among::threads ? ring_of_threads : ring_of_processes;
    floors.yield_switch_4 = ring(cpus.front(), 4);
    floors.yield_switch_8 = ring(cpus.front(), 8);
    return floors;
}

void print_floors(const Floors& floors, std::uint32_t round) {
    Record<"floor">()
        .field("round", round)
        .field("one_way_ns", floors.one_way())
        .field("one_way_pause_ns", floors.one_way_pause)
        .field("one_way_tight_ns", floors.one_way_tight)
        .field("exchange_ns", floors.exchange)
        .field("yield_switch_ns", floors.yield_switch())
        .field("yield_switch_4_ns", floors.yield_switch_4)
        .field("yield_switch_8_ns", floors.yield_switch_8)
        .print();
}

Scheduling measure_scheduling(int cpu) { return {.quanta = quanta(cpu), .sleep_switch = sleep_switch(cpu)}; }

void print_scheduling(const Scheduling& scheduling, std::uint32_t round) {
    Record<"scheduling">()
        .field("round", round)
        .field("quantum_ns", scheduling.quanta)
        .field("sleep_switch_ns", scheduling.sleep_switch)
        .print();
}

}  // namespace tollbar::bench
