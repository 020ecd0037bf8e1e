// SPDX-License-Identifier: Apache-2.0
#include "fair.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tollbar::scheduler {

FairKernel::FairKernel(const Machine& machine, const std::vector<Application>& applications, const Window& window)
    : Engine(machine, applications, window, &Clockwork::tick), shares_(programs_.threads()),
      processors_(machine.processors, {.queue = {clockwork_, machine.kernel == Kernel::fair, shares_}}),
      sleepers_(programs_.jobs().size()) {}

Nanoseconds FairKernel::next_instant(std::uint32_t number) const {
    const Processor& processor = processors_[number];
    const Nanoseconds chooses = processor.chooses > now_ ? processor.chooses : never;
    if (!running_[number] || processor.doing == Doing::waiting) return chooses;
    const bool computing = processor.doing == Doing::computing;
    return std::min(chooses, now_ + (computing ? programs_[*running_[number]].remaining : processor.left));
}

void FairKernel::come_to_instant() {
    for (std::uint32_t number = 0; number < processors(); ++number) look(number);
    admit();
    settle();
    if (!programs_.unfinished() || !ends_period()) return;
    tick();
    settle();
}

void FairKernel::admit() {
    while (const Job* const job = programs_.admit(now_))
        for (const std::uint32_t number : job->queueing()) {
            const Thread thread = job->first_thread + number;
            const std::uint32_t home = processor_of(thread);
            processors_[home].queue.join(thread);
            if (!running_[home]) processors_[home].chooses = now_;
        }
}

void FairKernel::look(std::uint32_t number) {
    Processor& processor = processors_[number];
    const Nanoseconds passed = now_ - std::exchange(processor.looked, now_);
    if (!running_[number]) return;
    processor.queue.charge(passed);
    if (processor.doing == Doing::computing)
        programs_[*running_[number]].remaining -= passed;
    else if (processor.doing != Doing::waiting)
        processor.left -= passed;
}

void FairKernel::tick() {
    for (std::uint32_t number = 0; number < processors(); ++number)
        if (running_[number] && processors_[number].queue.tick()) processors_[number].chooses = now_;
}

bool FairKernel::comes_to_barrier(std::uint32_t number, bool& changed) {
    Processor& processor = processors_[number];
    const std::size_t before = processor.wakes.size();
    const bool goes_on = works_off(number);
    changed |= processor.wakes.size() != before;
    if (!goes_on) return false;
    if (processor.chooses <= now_) {
        processor.chooses = never;
        if (const Thread next = *processor.queue.pick(); next != *running_[number]) {
            dispatch(number, next);  // which takes time, as somebody has run
            return false;
        }
    }
    const Programs::Running& running = programs_[*running_[number]];
    const bool computing = running.computing && running.remaining > 0;
    processor.doing = computing ? Doing::computing : Doing::waiting;
    if (computing) note(number, Activity::computing);
    return !computing;
}

bool FairKernel::works_off(std::uint32_t number) {
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

bool FairKernel::rouses(std::uint32_t number) {
    Processor& processor = processors_[number];
    std::vector<Thread>& sleepers = sleepers_[programs_[*running_[number]].job];
    std::ranges::copy_if(sleepers, std::back_inserter(processor.wakes),
                         [this](Thread sleeper) { return programs_.can_go_on(sleeper); });
    if (processor.wakes.empty()) return false;
    std::erase_if(sleepers, [this](Thread sleeper) { return programs_.can_go_on(sleeper); });
    work(number, Doing::waking, clockwork_.waking, Activity::waking);
    return true;
}

void FairKernel::wake(Thread sleeper, std::uint32_t waker) {
    const std::uint32_t number = processor_of(sleeper);
    Processor& processor = processors_[number];
    processor.queue.wake(sleeper);
    if (running_[number] && !processor.queue.preempts(sleeper)) return;
    processor.chooses = std::min(processor.chooses, now_ + (number == waker ? 0 : clockwork_.calling));
}

void FairKernel::left(std::uint32_t number) {
    processors_[number].queue.leave();
    processors_[number].chooses = now_;
}

bool FairKernel::gives_way(std::uint32_t number, bool&) {
    Processor& processor = processors_[number];
    const Thread thread = *running_[number];
    const Job& job = programs_.job_of(thread);
    const Waiting waiting = job.application->waiting;
    const bool yields = waiting == Waiting::naive ||
                        (waiting == Waiting::smart && programs_[thread].yields++ < job.application->yields);
    if (waiting == Waiting::smart && !yields) {
        processor.queue.sleep();
        running_[number].reset();
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
            work(number, Doing::switching, clockwork_.switching, Activity::switching);
            return true;
        }
    }
    if (waiting == Waiting::smart) return true;  // its yields found nobody
    note(number, Activity::spinning);
    return false;
}

bool FairKernel::take_next(std::uint32_t number) {
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

void FairKernel::dispatch(std::uint32_t number, Thread thread) {
    Processor& processor = processors_[number];
    processor.queue.run(thread);
    processor.doing = Doing::switching;
    processor.chooses = never;
    if (assign(number, thread)) work(number, Doing::switching, clockwork_.switching, Activity::switching);
}

void FairKernel::work(std::uint32_t number, Doing doing, Nanoseconds lasts, Activity activity) {
    processors_[number].doing = doing;
    processors_[number].left = lasts;
    note(number, activity);
}

std::uint32_t FairKernel::processor_of(Thread thread) const {
    const Job& job = programs_.job_of(thread);
    return job.first_processor + job.home[programs_[thread].number];
}

}  // namespace tollbar::scheduler
