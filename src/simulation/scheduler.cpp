// SPDX-License-Identifier: Apache-2.0
// The event loop: from one instant at which something ends to the next. What happens at an instant is settled
// processor by processor until nothing changes; the end of a quantum comes last and is settled likewise.
#include "scheduler_simulation.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar::scheduler {

namespace {

constexpr std::uint64_t events_between_looks = 1u << 16;

}  // namespace

Simulation::Simulation(const Machine& machine, const std::vector<Application>& applications, const Window& window)
    : window_(window), clockwork_(clockwork(machine)), jobs_(prepare(machine, applications)), queues_(machine, jobs_),
      processors_(machine.processors), spent_(jobs_.size()) {
    if (!(window.from_us >= 0 && window.until_us >= window.from_us))
        throw std::invalid_argument("the picture's window begins at 0 us or later and does not end before it begins");
    for (const Job& job : jobs_) {
        barriers_.push_back(make_barrier(job.application->barrier, job.home));
        for (std::uint32_t number = 0; number < job.threads; ++number)
            threads_.push_back({.job = job.number, .number = number});
        total_ += job.barriers * job.threads;
    }
    outcome_.applications.resize(jobs_.size());
    arrivals_.resize(jobs_.size());
    std::iota(arrivals_.begin(), arrivals_.end(), 0u);
    std::ranges::stable_sort(arrivals_, {}, [this](std::uint32_t job) { return jobs_[job].arrival; });
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
            if (unfinished()) end_quantum();
            settle();
            quantum_end += clockwork_.quantum;
            if (++outcome_.quanta % 4096 == 0) check_that_something_moves();
        }
        if (!unfinished()) break;
        if (++outcome_.events % events_between_looks == 0 && watch) watch({to_us(now_), passed_, total_});
    }
    return finish();
}

Nanoseconds Simulation::next_instant(Nanoseconds quantum_end) const {
    Nanoseconds next = quantum_end;
    for (const Processor& processor : processors_) next = std::min(next, processor.busy_until);
    if (admitted_ < arrivals_.size()) next = std::min(next, jobs_[arrivals_[admitted_]].arrival);
    return next;
}

void Simulation::admit() {
    for (; admitted_ < arrivals_.size() && jobs_[arrivals_[admitted_]].arrival <= now_; ++admitted_) {
        const Job& job = jobs_[arrivals_[admitted_]];
        for (const std::uint32_t number : job.queueing()) {
            const Thread thread = job.first_thread + number;
            compute(thread);
            queues_.at(job.number, job.home[number]).push_back(thread);
        }
        queues_.arrived(job.number);
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
        return processor.thread && !processor.switching && threads_[*processor.thread].computing;
    });
    if (!computing && moves_ == moves_before_ && admitted_ == arrivals_.size())
        throw std::invalid_argument("nothing moves: a context switch of " + std::to_string(clockwork_.switching) +
                                    " ns leaves no time in a quantum of " + std::to_string(clockwork_.quantum) +
                                    " ns; make the quantum longer");
    moves_before_ = moves_;
}

Outcome Simulation::finish() {
    outcome_.completed_us = to_us(now_);
    sum_up();
    for (const Job& job : jobs_) {
        Completion& completion = outcome_.applications[job.number];
        completion.arrival_us = to_us(job.arrival);
        completion.barriers = job.barriers;
        std::vector<Nanoseconds> load(job.processors);
        std::vector<std::uint32_t> count(job.processors);
        for (std::uint32_t number = 0; number < job.threads; ++number) {
            load[job.home[number]] += threads_[job.first_thread + number].computes;
            ++count[job.home[number]];
        }
        completion.floor_us = to_us(std::ranges::max(load));
        if (queues_.shared())  // its threads may run anywhere
            completion.floor_us = to_us(std::accumulate(load.begin(), load.end(), Nanoseconds{})) / job.processors;
        completion.most_threads = std::ranges::max(count);
    }
    return std::move(outcome_);
}

double Outcome::utilisation() const noexcept {
    const double all = computing_us + spinning_us + switching_us + idle_us;
    return all > 0 ? computing_us / all : 0;
}

Outcome simulate(const Machine& machine, const std::vector<Application>& applications, const Window& window,
                 const Watch& watch) {
    return Simulation(machine, applications, window).run(watch);
}

}  // namespace tollbar::scheduler
