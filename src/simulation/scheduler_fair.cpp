// SPDX-License-Identifier: Apache-2.0
#include "scheduler_fair.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tollbar::scheduler {

FairSimulation::FairSimulation(const Machine& machine, const std::vector<Application>& applications,
                               const Window& window)
    : clockwork_(clockwork(machine)), programs_(machine, applications), shares_(programs_.threads()),
      yields_(programs_.threads()),
      processors_(machine.processors, {.queue = {clockwork_, machine.kernel == Kernel::fair, shares_}}),
      sleepers_(programs_.jobs().size()), history_(window, machine.processors, programs_.jobs().size()) {}

Outcome FairSimulation::run(const Watch& watch) {
    Nanoseconds next_tick = clockwork_.tick;
    while (programs_.unfinished()) {
        now_ = next_instant(next_tick);
        for (Processor& processor : processors_) look(processor);
        admit();
        settle();
        if (now_ == next_tick && programs_.unfinished()) {
            tick();
            settle();
            next_tick += clockwork_.tick;
        }
        if (++events_ % events_between_looks == 0 && watch) watch(programs_.progress(now_));
    }
    Outcome outcome = programs_.finish(false, now_);
    outcome.switches = switches_;
    outcome.quanta = ticks_;
    outcome.events = events_;
    history_.sum_up(outcome, now_);
    return outcome;
}

Nanoseconds FairSimulation::next_instant(Nanoseconds tick) {
    Nanoseconds next = std::min(tick, programs_.next_arrival());
    for (const Processor& processor : processors_) {
        if (processor.chooses > now_) next = std::min(next, processor.chooses);
        if (!processor.thread || processor.doing == Doing::waiting) continue;
        const bool computing = processor.doing == Doing::computing;
        next = std::min(next, now_ + (computing ? programs_[*processor.thread].remaining : processor.left));
    }
    return next;
}

void FairSimulation::admit() {
    while (const Job* const job = programs_.admit(now_))
        for (const std::uint32_t number : job->queueing()) {
            const Thread thread = job->first_thread + number;
            Processor& processor = processors_[processor_of(thread)];
            processor.queue.join(thread);
            if (!processor.thread) processor.chooses = now_;
        }
}

void FairSimulation::look(Processor& processor) {
    const Nanoseconds passed = now_ - std::exchange(processor.looked, now_);
    if (!processor.thread) return;
    processor.queue.charge(passed);
    if (processor.doing == Doing::computing)
        programs_[*processor.thread].remaining -= passed;
    else if (processor.doing != Doing::waiting)
        processor.left -= passed;
}

void FairSimulation::tick() {
    ++ticks_;
    for (Processor& processor : processors_)
        if (processor.thread && processor.queue.tick()) processor.chooses = now_;
}

void FairSimulation::settle() {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t number = 0; number < processors_.size(); ++number) changed |= act(number);
    }
}

bool FairSimulation::act(std::uint32_t number) {
    Processor& processor = processors_[number];
    bool changed = false;
    while (processor.thread || take_next(number)) {
        const std::size_t before = processor.wakes.size();
        const bool goes_on = works_off(number);
        changed |= processor.wakes.size() != before;
        if (!goes_on) return changed;
        if (processor.chooses <= now_) {
            processor.chooses = never;
            const Thread next = *processor.queue.pick();
            if (next != *processor.thread) {
                dispatch(number, next);
                continue;
            }
        }
        const Programs::Running& running = programs_[*processor.thread];
        if (running.computing && running.remaining > 0) {
            processor.doing = Doing::computing;
            note(number, Activity::computing);
            return changed;
        }
        processor.doing = Doing::waiting;
        const Barrier::Advance step = programs_.meet(*processor.thread);
        changed |= step.moved;
        if (step.moved && rouses(number)) continue;
        if (step.through)
            pass(number);
        else if (running.works())
            continue;
        else if (!gives_way(number))
            return changed;
    }
    return changed;
}

bool FairSimulation::works_off(std::uint32_t number) {
    Processor& processor = processors_[number];
    if (processor.left > 0) return false;
    while (!processor.wakes.empty()) {
        const Thread sleeper = processor.wakes.front();
        processor.wakes.erase(processor.wakes.begin());
        wake(sleeper, number);
        if (processor.wakes.empty()) break;
        processor.left = clockwork_.waking;
        if (processor.left > 0) return false;
    }
    return true;
}

bool FairSimulation::rouses(std::uint32_t number) {
    Processor& processor = processors_[number];
    std::vector<Thread>& sleepers = sleepers_[programs_[*processor.thread].job];
    std::ranges::copy_if(sleepers, std::back_inserter(processor.wakes),
                         [this](Thread sleeper) { return programs_.can_go_on(sleeper); });
    if (processor.wakes.empty()) return false;
    std::erase_if(sleepers, [this](Thread sleeper) { return programs_.can_go_on(sleeper); });
    processor.doing = Doing::waking;
    processor.left = clockwork_.waking;
    note(number, Activity::waking);
    return true;
}

void FairSimulation::wake(Thread sleeper, std::uint32_t waker) {
    const std::uint32_t number = processor_of(sleeper);
    Processor& processor = processors_[number];
    processor.queue.wake(sleeper);
    if (processor.thread && !processor.queue.preempts(sleeper)) return;
    processor.chooses = std::min(processor.chooses, now_ + (number == waker ? 0 : clockwork_.calling));
}

void FairSimulation::pass(std::uint32_t number) {
    Processor& processor = processors_[number];
    const Thread thread = *processor.thread;
    yields_[thread] = 0;
    if (programs_.pass(thread)) return;
    processor.queue.leave();
    processor.thread.reset();
    processor.chooses = now_;
    programs_.complete(thread, now_);
}

bool FairSimulation::gives_way(std::uint32_t number) {
    Processor& processor = processors_[number];
    const Thread thread = *processor.thread;
    const Job& job = programs_.job_of(thread);
    const Waiting waiting = job.application->waiting;
    const bool yields = waiting == Waiting::naive ||
                        (waiting == Waiting::smart && yields_[thread]++ < job.application->yields);
    if (waiting == Waiting::smart && !yields) {
        processor.queue.sleep();
        processor.thread.reset();
        processor.chooses = now_;
        sleepers_[job.number].push_back(thread);
        return true;
    }
    if (yields && processor.queue.size() > 1) {
        processor.queue.yield();
        const Thread next = *processor.queue.pick();
        if (next != thread) {
            dispatch(number, next);
            return true;
        }
        if (processor.queue.size() > 1) {  // nobody else may run now; asking took time
            processor.doing = Doing::switching;
            processor.left = clockwork_.switching;
            note(number, Activity::switching);
            return true;
        }
    }
    if (waiting == Waiting::smart) return true;  // its yields found nobody
    note(number, Activity::spinning);
    return false;
}

bool FairSimulation::take_next(std::uint32_t number) {
    Processor& processor = processors_[number];
    if (processor.chooses > now_) return false;
    if (const std::optional<Thread> next = processor.queue.pick()) {
        dispatch(number, *next);
        return true;
    }
    processor.chooses = never;
    note(number, Activity::idle);
    return false;
}

void FairSimulation::dispatch(std::uint32_t number, Thread thread) {
    Processor& processor = processors_[number];
    processor.thread = thread;
    processor.queue.run(thread);
    processor.doing = Doing::switching;
    processor.chooses = never;
    if (!std::exchange(processor.used, true)) return;
    ++switches_;
    processor.left = clockwork_.switching;
    note(number, Activity::switching);
}

void FairSimulation::note(std::uint32_t number, Activity activity) {
    history_.note(number, programs_.state(processors_[number].thread, activity), now_);
}

std::uint32_t FairSimulation::processor_of(Thread thread) {
    const Job& job = programs_.job_of(thread);
    return job.first_processor + job.home[programs_[thread].number];
}

}  // namespace tollbar::scheduler
