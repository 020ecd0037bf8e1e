// SPDX-License-Identifier: Apache-2.0
// A processor's thread computes, meets the others, waits in its way, or makes room. The end of a quantum comes last at
// its instant and is settled likewise.
#include "paper.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar::scheduler {

PaperKernel::PaperKernel(const Machine& machine, const std::vector<Application>& applications, const Window& window)
    : Engine(machine, applications, window, &Clockwork::quantum), queues_(machine, programs_.jobs()),
      processors_(machine.processors) {
    if (machine.policy == Policy::dynamic) partitions_.emplace(machine.processors);
}

void PaperKernel::come_to_instant() {
    admit();
    if (!ends_period()) {
        settle();
    } else {
        note_arrivals();
        if (programs_.unfinished()) end_quantum();
        settle();
        if (periods_ % 4096 == 0) check_that_something_moves();
    }
    if (!programs_.unfinished()) --events_;  // counted are instants before the end
}

void PaperKernel::admit() {
    std::vector<Job*> come;
    while (Job* const job = programs_.admit(now_)) come.push_back(job);
    if (come.empty()) return;
    if (partitions_) move(partitions_->arrived(come));
    for (const Job* const job : come) {
        if (partitions_) programs_.settle_in(*job);
        for (const std::uint32_t number : job->queueing())
            if (Queue* const queue = queues_.at(job->number, job->home[number]))
                queue->push_back(job->first_thread + number);
        queues_.arrived(job->number);
    }
}

void PaperKernel::move(const std::vector<Partitions::Move>& moves) {
    for (const auto& [thread, from, to] : moves) {
        if (programs_.finished(thread)) continue;
        ++programs_.job(programs_[thread].job).moves;
        programs_[thread].moved = true;
        if (running_[from] != thread) {
            std::erase(*queues_.of(from), thread);
            queues_.of(to)->push_back(thread);
            continue;
        }
        preempt(from, *queues_.of(to));
        idle(from);
    }
}

bool PaperKernel::comes_to_barrier(std::uint32_t number, bool&) {
    Processor& processor = processors_[number];
    if (processor.busy_until > now_ && processor.busy_until != never) return false;
    const bool ended = processor.busy_until != never && !std::exchange(processor.switching, false);
    const Programs::Running& running = programs_[*running_[number]];
    if (!running.works() || ended) return true;
    processor.busy_until = now_ + running.remaining;
    note(number, running.computing ? Activity::computing : Activity::spinning);
    return running.remaining <= 0;
}

Barrier::Advance PaperKernel::meet(std::uint32_t number) {
    processors_[number].busy_until = never;
    const Thread thread = *running_[number];
    const Barrier::Advance step = programs_.meet(thread);
    if (step.access) programs_[thread].remaining = access_time(number);
    return step;
}

Nanoseconds PaperKernel::access_time(std::uint32_t number) {
    const Programs::Running& self = programs_[*running_[number]];
    Nanoseconds sum = 0;
    for (std::uint32_t each = 0; each < processors(); ++each) {
        if (!running_[each] || processors_[each].switching) continue;
        const Programs::Running& other = programs_[*running_[each]];
        if (!other.computing && other.job == self.job && other.word == self.word) sum += clockwork_.access;
    }
    return sum;
}

void PaperKernel::completed(Job& job) {
    queues_.completed(job.number);
    if (partitions_) move(partitions_->completed(job));
}

bool PaperKernel::take_next(std::uint32_t number) {
    Queue* const queue = queues_.of(number);
    if (!queue || queue->empty()) return false;
    dispatch(number, *queue, 0, 0);
    return true;
}

void PaperKernel::dispatch(std::uint32_t number, Queue& queue, std::size_t index, Nanoseconds left) {
    const Thread thread = queue[index];
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
    const bool switches = assign(number, thread), moved = std::exchange(programs_[thread].moved, false);
    const Nanoseconds lasts = left + (switches ? clockwork_.switching : 0) + (moved ? clockwork_.moving : 0);
    processors_[number] = {.switching = lasts > 0, .busy_until = lasts > 0 ? now_ + lasts : never, .dispatched = now_};
    if (lasts > 0) note(number, Activity::switching);
}

bool PaperKernel::gives_way(std::uint32_t number, bool& changed) {
    note(number, Activity::spinning);
    const Thread thread = *running_[number];
    const Waiting waiting = programs_.job_of(thread).application->waiting;
    Queue* const queue = queues_.of(number);
    if (waiting == Waiting::spin || !queue || queue->empty()) return false;
    std::size_t index = 0;
    // Free switches from thread to thread that all wait would never end.
    if (waiting == Waiting::smart || clockwork_.switching == 0) {
        const auto able = std::ranges::find_if(*queue, [this](Thread other) { return programs_.can_go_on(other); });
        if (able == queue->end()) return false;
        if (waiting == Waiting::smart) index = static_cast<std::size_t>(able - queue->begin());
    }
    queue->push_back(thread);
    dispatch(number, *queue, index, 0);
    return changed = true;
}

void PaperKernel::note_arrivals() {
    for (std::uint32_t number = 0; number < processors(); ++number) {
        if (processors_[number].busy_until != now_ || processors_[number].switching) continue;
        if (meet(number).through) pass(number);
    }
}

void PaperKernel::end_quantum() {
    if (queues_.shared()) return rotate_shared();
    std::vector<Queue*> left_behind;
    for (std::uint32_t number = 0; number < processors(); ++number) left_behind.push_back(queues_.of(number));
    const bool new_owner = queues_.next_turn();
    for (std::uint32_t number = 0; number < processors(); ++number) {
        Queue* const next = queues_.of(number);
        if (!next || (next->empty() && !new_owner)) continue;
        const Nanoseconds left = switch_left(number);
        if (running_[number]) preempt(number, *left_behind[number]);
        if (next->empty())
            idle(number);
        else
            dispatch(number, *next, 0, left);
    }
}

void PaperKernel::rotate_shared() {
    Queue& queue = *queues_.of(0);
    std::vector<std::uint32_t> longest;
    for (std::uint32_t number = 0; number < processors(); ++number)
        if (running_[number]) longest.push_back(number);
    std::ranges::stable_sort(longest, {}, [this](std::uint32_t number) { return processors_[number].dispatched; });
    longest.resize(std::min(longest.size(), queue.size()));
    for (const std::uint32_t number : longest) {
        const Nanoseconds left = switch_left(number);
        preempt(number, queue);
        dispatch(number, queue, 0, left);
    }
}

void PaperKernel::preempt(std::uint32_t number, Queue& queue) {
    const Processor& processor = processors_[number];
    const Thread thread = *std::exchange(running_[number], std::nullopt);
    if (processor.busy_until != never && !processor.switching)
        programs_[thread].remaining = processor.busy_until - now_;
    queue.push_back(thread);
}

void PaperKernel::idle(std::uint32_t number) {
    processors_[number].switching = false;
    processors_[number].busy_until = never;
    note(number, Activity::idle);
}

Nanoseconds PaperKernel::switch_left(std::uint32_t number) const {
    return processors_[number].switching ? processors_[number].busy_until - now_ : 0;
}

void PaperKernel::check_that_something_moves() {
    bool computing = false;
    for (std::uint32_t number = 0; number < processors(); ++number)
        computing |= running_[number] && !processors_[number].switching && programs_[*running_[number]].works();
    if (!computing && programs_.moves() == moves_before_ && programs_.next_arrival() == never)
        throw std::invalid_argument("nothing moves: a context switch of " + std::to_string(clockwork_.switching) +
                                    " ns leaves no time in a quantum of " + std::to_string(clockwork_.quantum) +
                                    " ns; make the quantum longer");
    moves_before_ = programs_.moves();
}

}  // namespace tollbar::scheduler
