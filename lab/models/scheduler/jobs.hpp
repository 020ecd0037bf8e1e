// SPDX-License-Identifier: Apache-2.0
// Applications as the simulator runs them: checked, placed on processors, with times in whole nanoseconds.
#pragma once

#include <tollbar/models/scheduler.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace tollbar::scheduler {

using Nanoseconds = std::int64_t;

/// A thread of the simulation, over all applications.
using Thread = std::uint32_t;

inline constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();

constexpr double to_us(Nanoseconds time) { return static_cast<double>(time) / 1000; }

/// An application that makes sense.
struct Job {
    const Application* application;
    std::uint32_t number;
    std::uint32_t threads;
    std::uint32_t first_thread;  ///< of all threads of the simulation
    std::uint32_t unfinished;    ///< threads
    std::uint64_t barriers;
    std::uint32_t first_processor;  ///< of those it may run on
    std::uint32_t processors;
    std::vector<std::uint32_t> home;  ///< of each thread: 0 .. processors - 1
    Nanoseconds arrival;
    std::uint64_t seed;
    std::uint32_t fewest_processors = 0, most_processors = 0;  ///< that it has had at a time
    std::uint32_t most_threads = 0;                            ///< that one of its processors has had
    std::uint64_t moves = 0;                                   ///< of its threads to another processor
    bool endless = false;  ///< the neighbours: their first computing time never ends

    /// The thread's event number `index`, counted from 0: computing and a barrier in turn, if nothing else
    /// was recorded.
    Event event(std::uint32_t thread, std::uint64_t index) const;
    /// How long it computes then, if it does.
    Nanoseconds compute(std::uint32_t thread, std::uint64_t index) const;

    /// Its threads in the order in which they queue at first.
    std::vector<std::uint32_t> queueing() const;

    /// Remembers how many processors it has now, and threads on the fullest.
    void note_size(std::uint32_t processors_now);
};

struct Clockwork {
    Nanoseconds quantum;
    Nanoseconds switching;
    Nanoseconds access;                 ///< of a word of memory
    Nanoseconds moving;                 ///< of a thread to another processor
    Nanoseconds tick, waking, calling;  ///< of the fair kernels
};

/// Throws std::invalid_argument that names what is wrong and what is accepted.
Clockwork clockwork(const Machine& machine);
/// The processor of each thread where an application has this many.
std::vector<std::uint32_t> homes(const Application& application, std::uint32_t threads, std::uint32_t processors);
/// The neighbours are the last job, where there are some.
std::vector<Job> prepare(const Machine& machine, const std::vector<Application>& applications);

}  // namespace tollbar::scheduler
