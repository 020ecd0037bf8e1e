// SPDX-License-Identifier: Apache-2.0
// The end of a quantum, which is at the same instant everywhere: who has to go, who comes.
#include "scheduler_simulation.hpp"

#include <algorithm>

namespace tollbar::scheduler {

void Simulation::note_arrivals() {
    for (std::uint32_t number = 0; number < processors_.size(); ++number) {
        Processor& processor = processors_[number];
        if (processor.busy_until != now_ || processor.switching) continue;
        if (meet(number).through) pass(number);
    }
}

void Simulation::end_quantum() {
    if (queues_.shared()) return rotate_shared();
    std::vector<Queue*> left_behind;
    for (std::uint32_t number = 0; number < processors_.size(); ++number) left_behind.push_back(queues_.of(number));
    const bool new_owner = queues_.next_turn();
    for (std::uint32_t number = 0; number < processors_.size(); ++number) {
        Processor& processor = processors_[number];
        Queue* const next = queues_.of(number);
        if (!next || (next->empty() && !new_owner)) continue;
        const Nanoseconds left = switch_left(processor);
        if (processor.thread) preempt(processor, *left_behind[number]);
        if (!next->empty()) {
            dispatch(number, *next, 0, left);
            continue;
        }
        processor.switching = false;
        processor.busy_until = never;
        note(number, Activity::idle);
    }
}

void Simulation::rotate_shared() {
    Queue& queue = *queues_.of(0);
    std::vector<std::uint32_t> longest;
    for (std::uint32_t number = 0; number < processors_.size(); ++number)
        if (processors_[number].thread) longest.push_back(number);
    std::ranges::stable_sort(longest, {}, [this](std::uint32_t number) { return processors_[number].dispatched; });
    longest.resize(std::min(longest.size(), queue.size()));
    for (const std::uint32_t number : longest) {
        const Nanoseconds left = switch_left(processors_[number]);
        preempt(processors_[number], queue);
        dispatch(number, queue, 0, left);
    }
}

void Simulation::preempt(Processor& processor, Queue& queue) {
    Programs::Running& running = programs_[*processor.thread];
    if (processor.busy_until != never && !processor.switching) running.remaining = processor.busy_until - now_;
    queue.push_back(*processor.thread);
    processor.thread.reset();
}

Nanoseconds Simulation::switch_left(const Processor& processor) const {
    return processor.switching ? processor.busy_until - now_ : 0;
}

}  // namespace tollbar::scheduler
