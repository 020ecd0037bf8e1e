// SPDX-License-Identifier: Apache-2.0
// The event loop of the paper's kernel: from one instant at which something ends to the next. What happens at an
// instant is settled processor by processor until nothing changes; the end of a quantum comes last and is settled
// likewise.
#include "scheduler_fair.hpp"
#include "scheduler_simulation.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tollbar::scheduler {

Simulation::Simulation(const Machine& machine, const std::vector<Application>& applications, const Window& window)
    : clockwork_(clockwork(machine)), programs_(machine, applications), queues_(machine, programs_.jobs()),
      history_(window, machine.processors, programs_.jobs().size()), processors_(machine.processors) {
    if (machine.policy == Policy::dynamic) partitions_.emplace(machine.processors);
}

Outcome Simulation::run(const Watch& watch) {
    Nanoseconds quantum_end = clockwork_.quantum;
    while (true) {
        now_ = next_instant(quantum_end);
        admit();
        if (now_ < quantum_end) {
            settle();
        } else {
            note_arrivals();
            if (programs_.unfinished()) end_quantum();
            settle();
            quantum_end += clockwork_.quantum;
            if (++quanta_ % 4096 == 0) check_that_something_moves();
        }
        if (!programs_.unfinished()) break;
        if (++events_ % events_between_looks == 0 && watch) watch(programs_.progress(now_));
    }
    Outcome outcome = programs_.finish(queues_.shared() || partitions_, now_);
    outcome.switches = switches_;
    outcome.quanta = quanta_;
    outcome.events = events_;
    history_.sum_up(outcome, now_);
    return outcome;
}

Nanoseconds Simulation::next_instant(Nanoseconds quantum_end) const {
    Nanoseconds next = std::min(quantum_end, programs_.next_arrival());
    for (const Processor& processor : processors_) next = std::min(next, processor.busy_until);
    return next;
}

void Simulation::admit() {
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

void Simulation::move(const std::vector<Partitions::Move>& moves) {
    for (const auto& [thread, from, to] : moves) {
        if (programs_.finished(thread)) continue;
        ++programs_.job(programs_[thread].job).moves;
        programs_[thread].moved = true;
        Processor& processor = processors_[from];
        if (processor.thread != thread) {
            std::erase(*queues_.of(from), thread);
            queues_.of(to)->push_back(thread);
            continue;
        }
        preempt(processor, *queues_.of(to));
        processor.switching = false;
        processor.busy_until = never;
        note(from, Activity::idle);
    }
}

void Simulation::settle() {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t number = 0; number < processors_.size(); ++number) changed |= act(number);
    }
}

void Simulation::check_that_something_moves() {
    const bool computing = std::ranges::any_of(processors_, [this](const Processor& processor) {
        return processor.thread && !processor.switching && programs_[*processor.thread].works();
    });
    if (!computing && programs_.moves() == moves_before_ && programs_.next_arrival() == never)
        throw std::invalid_argument("nothing moves: a context switch of " + std::to_string(clockwork_.switching) +
                                    " ns leaves no time in a quantum of " + std::to_string(clockwork_.quantum) +
                                    " ns; make the quantum longer");
    moves_before_ = programs_.moves();
}

double Outcome::utilisation() const noexcept {
    const double all = computing_us + spinning_us + switching_us + idle_us + waking_us + neighbours_us;
    return all > 0 ? computing_us / all : 0;
}

Outcome simulate(const Machine& machine, const std::vector<Application>& applications, const Window& window,
                 const Watch& watch) {
    if (machine.kernel == Kernel::paper) return Simulation(machine, applications, window).run(watch);
    return FairSimulation(machine, applications, window).run(watch);
}

}  // namespace tollbar::scheduler
