// SPDX-License-Identifier: Apache-2.0
// Barriers when there are fewer processors than threads: the program simulator of Markatos et al. 1991, "The
// Effects of Multiprogramming on Barrier Synchronization". Event-driven, deterministic, without I/O.
#pragma once

#include <tollbar/detail/language.hpp>
#include <tollbar/models/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar::scheduler {

/// The rule by which one of several threads gets a processor.
enum class Kernel : std::uint8_t {
    paper,       ///< turns of one quantum, which end at the same instants everywhere
    fair,        ///< virtual time: earliest eligible deadline first, as Linux since 6.17
    older_fair,  ///< the same, but a yield postpones the deadline only, as Linux 6.6 to 6.16
};

/// The threads that a processor may run.
enum class Policy : std::uint8_t {
    partition,    ///< each application has processors of its own, with a round-robin queue each
    coscheduled,  ///< applications take turns of one quantum on the whole machine
    global,       ///< one queue for all threads: the next thread takes the next free processor
    dedicated,    ///< the whole machine runs one application to its end, in order of arrival
    dynamic,      ///< partitions that are equal shares of the applications that are there, divided anew whenever one
                  ///< arrives or completes; none has more processors than threads
};

/// The behaviour of a thread while the barrier holds it.
enum class Waiting : std::uint8_t {
    spin,   ///< keeps its processor until the quantum ends
    smart,  ///< yields to the first queued thread that can go on; stays when there is none. Under the fair kernels it
            ///< sleeps until another thread wakes it, which is how a kernel learns who can go on
    naive,  ///< yields to the next queued thread, even if that one is waiting too; as sched_yield
};

/// The processors that threads live on.
enum class Placement : std::uint8_t {
    cyclic,  ///< thread i on processor i mod P
    block,   ///< neighbours together; the first threads mod P processors have one more
    given,   ///< as Application::processor_of says
};

/// The order in which threads queue when their application arrives; they keep taking turns in it.
enum class Order : std::uint8_t {
    numbered,  ///< as the paper has it; exchanges and trees find their partners done
    shuffled,  ///< drawn from the seed: in a kernel the order of arrival decides
};

/// The next action of a thread of a recorded program.
struct Event {
    /// The kinds of actions.
    enum class Kind : std::uint8_t {
        compute,  ///< computes for some time
        send,     ///< a message, which never waits
        receive,  ///< the oldest message of that thread that it has not had; waits for one as at a barrier
        barrier,  ///< passes the barrier
    };
    Kind kind = Kind::barrier;  ///< what it is
    double us = 0;              ///< microseconds of computing
    std::uint32_t thread = 0;   ///< the other one, of a message
};

/// A program: every thread repeats {compute; barrier}, unless its events were recorded.
struct Application {
    std::uint32_t threads = 16;   ///< how many
    double compute_us = 1000;     ///< between two barriers
    double variation = 0;         ///< a share: each time is drawn from compute_us * (1 - variation .. 1 + variation)
    std::uint64_t barriers = 60;  ///< how many episodes
    double arrival_us = 0;        ///< when it starts
    /// Any plan of the catalogue as make_plan spells it, whose roles whoever comes last plays; the groups of
    /// "INNER/OUTER" are the processors. The paper's names stand for "turnstile" ("centralized"), "mcs:4,2" ("tree")
    /// and "turnstile/mcs:4,2" ("combination": a counter on each processor, the tree between processors).
    std::string barrier = "centralized";
    Waiting waiting = Waiting::spin;            ///< what its threads do at the barrier
    Placement placement = Placement::cyclic;    ///< on which processors they live
    Order order = Order::numbered;              ///< in which they queue
    std::vector<std::uint32_t> processor_of{};  ///< with Placement::given: of each thread, in its partition
    std::uint32_t processors = 0;               ///< size of its partition; 0: an equal share of what is left
    std::uint32_t yields = 0;  ///< of Waiting::smart under the fair kernels: so often it yields before it sleeps
    std::vector<std::vector<Event>> events{};  ///< recorded: of each thread, what it does, in order, which ends with a
                                               ///< barrier; takes the place of threads, compute_us and barriers
    std::vector<std::vector<double>> profile_us{};  ///< recorded: of each thread, its computing times in order;
                                                    ///< the same with a barrier after each
};

/// The processors and the kernel that shares them out.
struct Machine {
    std::uint32_t processors = 8;  ///< how many
    double quantum_us = 20000;     ///< the slice under the fair kernels: so long a thread runs while others want to
    double switch_us = 100;        ///< processor time of one context switch
    Policy policy = Policy::partition;  ///< which threads a processor may run
    std::uint64_t seed = 1;             ///< of the computing times where they vary, and of shuffled orders
    Kernel kernel = Kernel::paper;      ///< whose rules
    /// Threads of others that never wait: neighbour i lives on processor i mod P. Under coscheduled they are an
    /// application, which takes its turns.
    std::uint32_t neighbours = 0;
    /// The paper's kernel only: a word of memory serves one access at a time, which takes this long. A step at a
    /// barrier is one access; it waits for the accesses of all others that are at that word, and who polls is always
    /// there.
    double access_us = 0;
    double move_us = 0;     ///< of Policy::dynamic: what the next switch to a thread takes longer when it has moved
    double tick_us = 4000;  ///< of the fair kernels, as are the next two: when they look whose slice is used up
    double wake_us = 2;     ///< processor time of waking a sleeper
    double call_us = 0;     ///< until another processor, idle or not, looks at whom it was sent
};

/// The occupation of a processor: idle; switching threads; computing; spinning at a barrier; waking a sleeper; running
/// a neighbour.
enum class Activity : std::uint8_t { idle, switching, computing, spinning, waking, neighbour };

/// How many activities there are.
inline constexpr std::size_t activities = 6;

/// A stretch of one activity. While idle, `application` and `thread` mean nothing. Neighbours are the application after
/// the last one.
struct Span {
    std::uint32_t processor;    ///< its number
    Activity activity;          ///< what it does
    std::uint32_t application;  ///< whose thread runs
    std::uint32_t thread;       ///< its number in the application
    double from_us;             ///< on the clock of the machine
    double until_us;            ///< the same
};

/// The part of the history that is kept for a picture.
struct Window {
    double from_us = 0;               ///< on the clock of the machine
    double until_us = 0;              ///< the same
    std::size_t most_spans = 100000;  ///< the history is cut after so many
};

/// Result of one application.
struct Completion {
    double arrival_us = 0;       ///< when it started, on the clock of the machine
    double completed_us = 0;     ///< on the clock of the machine
    std::uint64_t barriers = 0;  ///< episodes
    double computing_us = 0;     ///< of all threads together
    double spinning_us = 0;      ///< processor time spent at the barrier
    double floor_us = 0;  ///< computing time of its most loaded processor, which nothing can beat (with one queue for
                          ///< all, or partitions that change: of its processors on average)
    std::uint32_t most_threads = 0;       ///< on one of its processors
    std::uint32_t fewest_processors = 0;  ///< that it had at a time
    std::uint32_t most_processors = 0;    ///< that it had at a time
    std::uint64_t moves = 0;              ///< of its threads, from a processor to another, because partitions changed

    /// The time from its arrival to its end, and that over its barriers.
    double elapsed_us() const noexcept { return completed_us - arrival_us; }
    double per_barrier_us() const noexcept { return elapsed_us() / static_cast<double>(barriers); }
};

/// The result of a run, for the machine and for each application.
struct Outcome {
    double completed_us = 0;               ///< when the last application finished
    std::vector<Completion> applications;  ///< in the order asked
    std::uint64_t switches = 0;            ///< of threads
    std::uint64_t quanta = 0;   ///< that ended before the last application finished; ticks under the fair kernels
    std::uint64_t events = 0;   ///< what it cost to simulate
    double computing_us = 0;    ///< of all processors together
    double spinning_us = 0;     ///< at barriers, of all together
    double switching_us = 0;    ///< threads, of all together
    double idle_us = 0;         ///< of all together
    double waking_us = 0;       ///< sleepers, of all together
    double neighbours_us = 0;   ///< running neighbours, all together
    std::vector<Span> history;  ///< in order of processor, then time
    bool history_cut = false;   ///< whether there was more of it than the window takes

    /// The share of the processors' time that was spent computing.
    double utilisation() const noexcept;
};

/// Runs the applications to their end; progress counts thread passages of a barrier. Barrier actions take no time,
/// unless accesses do, and happen only while their thread runs; what happens at one instant is settled processor by
/// processor until nothing changes, a quantum's end last. A spinning thread's switches cost switch_us too; the paper's
/// own spinning experiments have them free. The fair kernels know no weights, and threads stay on their processors.
///
///     Machine machine{.processors = 8};
///     Application program{.threads = 16, .barrier = "combination", .waiting = Waiting::smart};
///     double us = simulate(machine, {program}).applications[0].per_barrier_us();
///
/// Times are kept in whole nanoseconds. Throws std::invalid_argument for parameters that make no sense, and for
/// switches so long that no quantum leaves time to compute.
Outcome simulate(const Machine& machine, const std::vector<Application>& applications, const Window& window = {},
                 const Watch& watch = {});

}  // namespace tollbar::scheduler
#pragma GCC visibility pop
