// SPDX-License-Identifier: Apache-2.0
// One run of the scheduler simulator: its state, and what may happen at an instant. The definitions are in
// scheduler.cpp (from instant to instant), scheduler_processor.cpp (what a processor does at one),
// scheduler_quantum.cpp (what the end of a quantum changes) and scheduler_history.cpp (what it all took).
#pragma once

#include "scheduler_barrier.hpp"
#include "scheduler_jobs.hpp"
#include "scheduler_queues.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tollbar::scheduler {

class Simulation {
public:
    Simulation(const Machine& machine, const std::vector<Application>& applications, const Window& window);
    Outcome run(const Watch& watch);

private:
    struct Running {
        std::uint32_t job;
        std::uint32_t number;
        std::uint64_t episode = 0;  // barriers passed
        bool computing = false;     // else it is at its barrier
        Nanoseconds remaining = 0;  // of its computing, while it does not run
        Nanoseconds computes = 0;   // in all
    };

    /// What a processor does, for whom.
    struct State {
        Activity activity = Activity::idle;
        std::uint32_t application = 0;
        std::uint32_t thread = 0;

        bool operator==(const State&) const = default;
    };

    struct Processor {
        std::optional<Thread> thread;  // runs, or is being switched to
        bool switching = false;
        Nanoseconds busy_until = never;  // end of the switch or of the computing; never when spinning or idle
        Nanoseconds dispatched = 0;      // when it took its thread
        bool used = false;               // its first thread costs no switch
        State state{};
        Nanoseconds since = 0;  // it is in that state
    };

    // scheduler.cpp
    bool unfinished() const { return passed_ < total_; }
    Nanoseconds next_instant(Nanoseconds quantum_end) const;
    void admit();
    void settle();
    Outcome finish();
    /// Switches nearly as long as a quantum can starve a thread for ever.
    void check_that_something_moves();

    // scheduler_processor.cpp
    /// Does what the processor can do at this instant; whether that was anything others may see.
    bool act(std::uint32_t number);
    /// The processor's thread does what it can at the barrier.
    Barrier::Advance come_to_barrier(std::uint32_t number);
    /// The processor's thread leaves the barrier, and perhaps the machine.
    void pass(std::uint32_t number);
    bool take_next(std::uint32_t number);
    /// The queue's thread at `place` gets the processor, after `left` of an earlier switch and a switch.
    void dispatch(std::uint32_t number, Queue& queue, std::size_t place, Nanoseconds left);
    /// A thread that waits gives its processor to another one, if its way of waiting finds one.
    bool yield(std::uint32_t number);
    bool can_go_on(Thread thread) const;
    void compute(Thread thread);

    // scheduler_quantum.cpp
    /// Computing that ends with the quantum counts: its thread does what it can at the barrier, but yields no more.
    void note_arrivals();
    void end_quantum();
    /// As many threads as wait in the one queue replace those that have had their processors longest.
    void rotate_shared();
    /// The processor's thread goes to the tail of the queue it came from.
    void preempt(Processor& processor, Queue& queue);
    /// What is left of the switch that the processor is in.
    Nanoseconds switch_left(const Processor& processor) const;

    // scheduler_history.cpp
    /// What the processor does from now on; nothing happens when it is the same.
    void note(std::uint32_t number, Activity activity);
    void end_stretch(std::uint32_t number);
    void sum_up();

    using Spent = std::array<Nanoseconds, 4>;  // in the order of Activity

    const Window window_;
    Clockwork clockwork_;
    std::vector<Job> jobs_;
    Queues queues_;
    std::vector<Processor> processors_;
    std::vector<Running> threads_;
    std::vector<Barrier> barriers_;        // of each application
    std::vector<Spent> spent_;             // by each application
    std::vector<std::uint32_t> arrivals_;  // applications in order of arrival
    std::size_t admitted_ = 0;
    Nanoseconds now_ = 0;
    std::uint64_t passed_ = 0, total_ = 0, moves_ = 0, moves_before_ = 0;
    Outcome outcome_;
};

}  // namespace tollbar::scheduler
