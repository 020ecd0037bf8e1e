// SPDX-License-Identifier: Apache-2.0
// One run under the paper's kernel: its state, and what may happen at an instant. The definitions are in
// scheduler.cpp (from instant to instant), scheduler_processor.cpp (what a processor does at one) and
// scheduler_quantum.cpp (what the end of a quantum changes).
#pragma once

#include "scheduler_history.hpp"
#include "scheduler_partitions.hpp"
#include "scheduler_programs.hpp"
#include "scheduler_queues.hpp"

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
    struct Processor {
        std::optional<Thread> thread;  // runs, or is being switched to
        bool switching = false;
        Nanoseconds busy_until = never;  // end of the switch or of the computing; never when spinning or idle
        Nanoseconds dispatched = 0;      // when it took its thread
        bool used = false;               // its first thread costs no switch
    };

    // scheduler.cpp
    Nanoseconds next_instant(Nanoseconds quantum_end) const;
    void admit();
    /// Partitions have changed.
    void move(const std::vector<Partitions::Move>& moves);
    void settle();
    /// Switches nearly as long as a quantum can starve a thread for ever.
    void check_that_something_moves();

    // scheduler_processor.cpp
    /// Does what the processor can do at this instant; whether that was anything others may see.
    bool act(std::uint32_t number);
    /// The processor's thread, which has computed or waits, does what it can with others.
    Barrier::Advance meet(std::uint32_t number);
    /// Until the thread of the processor has had the word it needs: those who are there come first.
    Nanoseconds access_time(std::uint32_t number);
    /// The processor's thread leaves the barrier, and perhaps the machine.
    void pass(std::uint32_t number);
    bool take_next(std::uint32_t number);
    /// The queue's thread at `place` gets the processor, after `left` of an earlier switch and a switch.
    void dispatch(std::uint32_t number, Queue& queue, std::size_t place, Nanoseconds left);
    /// A thread that waits gives its processor to another one, if its way of waiting finds one.
    bool yield(std::uint32_t number);

    // scheduler_quantum.cpp
    /// Computing that ends with the quantum counts: its thread does what it can at the barrier, but yields no more.
    void note_arrivals();
    void end_quantum();
    /// As many threads as wait in the one queue replace those that have had their processors longest.
    void rotate_shared();
    /// The processor's thread goes to the tail of the queue.
    void preempt(Processor& processor, Queue& queue);
    /// What is left of the switch that the processor is in.
    Nanoseconds switch_left(const Processor& processor) const;

    void note(std::uint32_t number, Activity activity);

    Clockwork clockwork_;
    Programs programs_;
    Queues queues_;
    std::optional<Partitions> partitions_;  // where they change
    History history_;
    std::vector<Processor> processors_;
    Nanoseconds now_ = 0;
    std::uint64_t switches_ = 0, quanta_ = 0, events_ = 0, moves_before_ = 0;
};

}  // namespace tollbar::scheduler
