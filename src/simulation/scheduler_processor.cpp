// SPDX-License-Identifier: Apache-2.0
// What a processor does at an instant: its thread computes, meets the others, waits in its way, or makes room.
#include "scheduler_simulation.hpp"

#include <algorithm>
#include <utility>

namespace tollbar::scheduler {

bool Simulation::act(std::uint32_t number) {
    Processor& processor = processors_[number];
    bool changed = false;
    while (true) {
        if (!processor.thread && !take_next(number)) return changed;
        if (processor.busy_until > now_ && processor.busy_until != never) return changed;
        const Programs::Running& running = programs_[*processor.thread];
        const bool ended = processor.busy_until != never && !std::exchange(processor.switching, false);
        if (running.works() && !ended) {
            processor.busy_until = now_ + running.remaining;
            note(number, running.computing ? Activity::computing : Activity::spinning);
            if (running.remaining > 0) return changed;
        }
        const Barrier::Advance step = meet(number);
        changed |= step.moved;
        if (step.through) {
            pass(number);
            continue;
        }
        if (running.works()) continue;
        note(number, Activity::spinning);
        if (!yield(number)) return changed;
        changed = true;
    }
}

Barrier::Advance Simulation::meet(std::uint32_t number) {
    processors_[number].busy_until = never;
    const Thread thread = *processors_[number].thread;
    const Barrier::Advance step = programs_.meet(thread);
    if (step.access) programs_[thread].remaining = access_time(number);
    return step;
}

Nanoseconds Simulation::access_time(std::uint32_t number) {
    const Programs::Running& self = programs_[*processors_[number].thread];
    return clockwork_.access * std::ranges::count_if(processors_, [&](const Processor& each) {
               if (!each.thread || each.switching) return false;
               const Programs::Running& other = programs_[*each.thread];
               return !other.computing && other.job == self.job && other.word == self.word;
           });
}

void Simulation::pass(std::uint32_t number) {
    const Thread thread = *processors_[number].thread;
    if (programs_.pass(thread)) return;
    processors_[number].thread.reset();
    note(number, Activity::idle);
    if (!programs_.complete(thread, now_)) return;
    queues_.completed(programs_[thread].job);
    if (partitions_) move(partitions_->completed(programs_.job_of(thread)));
}

bool Simulation::take_next(std::uint32_t number) {
    Queue* const queue = queues_.of(number);
    if (!queue || queue->empty()) return false;
    dispatch(number, *queue, 0, 0);
    return true;
}

void Simulation::dispatch(std::uint32_t number, Queue& queue, std::size_t place, Nanoseconds left) {
    Processor& processor = processors_[number];
    processor.thread = queue[place];
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(place));
    processor.dispatched = now_;
    processor.busy_until = never;
    processor.switching = false;
    const bool switches = std::exchange(processor.used, true);
    switches_ += switches;
    const bool moved = std::exchange(programs_[*processor.thread].moved, false);
    const Nanoseconds lasts = left + (switches ? clockwork_.switching : 0) + (moved ? clockwork_.moving : 0);
    if (lasts == 0) return;
    processor.switching = true;
    processor.busy_until = now_ + lasts;
    note(number, Activity::switching);
}

bool Simulation::yield(std::uint32_t number) {
    Processor& processor = processors_[number];
    const Thread thread = *processor.thread;
    const Waiting waiting = programs_.job_of(thread).application->waiting;
    Queue* const queue = queues_.of(number);
    if (waiting == Waiting::spin || !queue || queue->empty()) return false;
    std::size_t place = 0;
    // Free switches from thread to thread that all wait would never end.
    if (waiting == Waiting::smart || clockwork_.switching == 0) {
        const auto able = std::ranges::find_if(*queue, [this](Thread other) { return programs_.can_go_on(other); });
        if (able == queue->end()) return false;
        if (waiting == Waiting::smart) place = static_cast<std::size_t>(able - queue->begin());
    }
    queue->push_back(thread);
    dispatch(number, *queue, place, 0);
    return true;
}

void Simulation::note(std::uint32_t number, Activity activity) {
    history_.note(number, programs_.state(processors_[number].thread, activity), now_);
}

}  // namespace tollbar::scheduler
