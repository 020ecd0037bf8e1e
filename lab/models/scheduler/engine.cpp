// SPDX-License-Identifier: Apache-2.0
// The event loop: from one instant at which something ends to the next. An instant is settled processor by processor
// until nothing changes.
#include "engine.hpp"

#include "fair.hpp"
#include "paper.hpp"

#include <algorithm>

namespace tollbar::scheduler {

Engine::Engine(const Machine& machine, const std::vector<Application>& applications, const Window& window,
               Nanoseconds Clockwork::*period)
    : clockwork_(clockwork(machine)), programs_(machine, applications),
      history_(window, machine.processors, programs_.jobs().size()), running_(machine.processors),
      used_(machine.processors), period_(clockwork_.*period),
      anywhere_(machine.policy == Policy::global || machine.policy == Policy::dynamic), period_end_(period_) {}

Outcome Engine::run(const Watch& watch) {
    do {
        Nanoseconds next = std::min(period_end_, programs_.next_arrival());
        for (std::uint32_t number = 0; number < processors(); ++number) next = std::min(next, next_instant(number));
        now_ = next;
        come_to_instant();
        if (++events_ % events_between_looks == 0 && watch) watch(programs_.progress(now_));
    } while (programs_.unfinished());
    Outcome outcome = programs_.finish(anywhere_, now_);
    outcome.switches = switches_;
    outcome.quanta = periods_;
    outcome.events = events_;
    history_.sum_up(outcome, now_);
    return outcome;
}

void Engine::settle() {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t number = 0; number < processors(); ++number) act(number, changed);
    }
}

void Engine::act(std::uint32_t processor, bool& changed) {
    while (running_[processor] || take_next(processor)) {
        if (!comes_to_barrier(processor, changed)) return;
        const Thread thread = *running_[processor];
        const Barrier::Advance step = meet(processor);
        changed |= step.moved;
        if (step.moved && rouses(processor)) continue;
        if (step.through)
            pass(processor);
        else if (!programs_[thread].works() && !gives_way(processor, changed))
            return;
    }
}

bool Engine::ends_period() {
    if (now_ < period_end_) return false;
    period_end_ += period_;
    ++periods_;
    return true;
}

bool Engine::assign(std::uint32_t processor, Thread thread) {
    running_[processor] = thread;
    const bool switches = used_[processor];
    used_[processor] = true;
    switches_ += switches;
    return switches;
}

void Engine::pass(std::uint32_t processor) {
    const Thread thread = *running_[processor];
    if (programs_.pass(thread)) return;
    running_[processor].reset();
    left(processor);
    if (programs_.complete(thread, now_)) completed(programs_.job(programs_[thread].job));
}

void Engine::note(std::uint32_t processor, Activity activity) {
    history_.note(processor, programs_.state(running_[processor], activity), now_);
}

double Outcome::utilisation() const noexcept {
    const double all = computing_us + spinning_us + switching_us + idle_us + waking_us + neighbours_us;
    return all > 0 ? computing_us / all : 0;
}

Outcome simulate(const Machine& machine, const std::vector<Application>& applications, const Window& window,
                 const Watch& watch) {
    if (machine.kernel == Kernel::paper) return PaperKernel(machine, applications, window).run(watch);
    return FairKernel(machine, applications, window).run(watch);
}

}  // namespace tollbar::scheduler
