// SPDX-License-Identifier: Apache-2.0
#include "scheduler_programs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tollbar::scheduler {

Programs::Programs(const Machine& machine, const std::vector<Application>& applications)
    : access_(machine.access_us > 0 ? Access::counted : Access::free), jobs_(prepare(machine, applications)) {
    for (const Job& job : jobs_) {
        barriers_.push_back(make_barrier(job.application->barrier, job.home, access_));
        for (std::uint32_t number = 0; number < job.threads; ++number)
            threads_.push_back({.job = job.number, .number = number});
        if (!job.endless) total_ += job.barriers * job.threads;
    }
    completed_us_.resize(jobs_.size());
    arrivals_.resize(jobs_.size());
    std::iota(arrivals_.begin(), arrivals_.end(), 0u);
    std::ranges::stable_sort(arrivals_, {}, [this](std::uint32_t job) { return jobs_[job].arrival; });
}

Nanoseconds Programs::next_arrival() const {
    return admitted_ < arrivals_.size() ? jobs_[arrivals_[admitted_]].arrival : never;
}

Job* Programs::admit(Nanoseconds now) {
    if (next_arrival() > now) return nullptr;
    Job& job = jobs_[arrivals_[admitted_++]];
    for (std::uint32_t number = 0; number < job.threads; ++number) compute(job.first_thread + number);
    return &job;
}

void Programs::settle_in(const Job& job) {
    barriers_[job.number] = make_barrier(job.application->barrier, job.home, access_);
}

Barrier::Advance Programs::come_to_barrier(Thread thread) {
    Running& running = threads_[thread];
    Barrier& barrier = barriers_[running.job];
    const bool enters = std::exchange(running.computing, false);
    if (enters) barrier.enter(running.number);
    Barrier::Advance step = barrier.advance(running.number, std::exchange(running.accessing, false));
    running.accessing = step.access.has_value();
    if (!step.through) running.word = step.access ? *step.access : barrier.polls(running.number);
    step.moved |= enters;
    if (step.moved) ++moves_;
    return step;
}

bool Programs::pass(Thread thread) {
    Running& running = threads_[thread];
    ++passed_;
    if (++running.episode == jobs_[running.job].barriers) return false;
    compute(thread);
    return true;
}

bool Programs::complete(Thread thread, Nanoseconds now) {
    Job& job = jobs_[threads_[thread].job];
    if (--job.unfinished > 0) return false;
    completed_us_[job.number] = to_us(now);
    return true;
}

bool Programs::can_go_on(Thread thread) const {
    const Running& running = threads_[thread];
    return running.works() || barriers_[running.job].can_advance(running.number);
}

State Programs::state(const std::optional<Thread>& thread, Activity activity) const {
    if (!thread) return {.activity = activity};
    const Running& running = threads_[*thread];
    if (activity == Activity::computing && jobs_[running.job].endless) activity = Activity::neighbour;
    return {.activity = activity, .application = running.job, .thread = running.number};
}

void Programs::compute(Thread thread) {
    Running& running = threads_[thread];
    running.computing = true;
    running.remaining = jobs_[running.job].compute(running.number, running.episode);
    running.computes += running.remaining;
}

Outcome Programs::finish(bool anywhere, Nanoseconds now) {
    Outcome outcome;
    outcome.completed_us = to_us(now);
    for (const Job& job : jobs_) {
        if (job.endless) continue;
        std::vector<Nanoseconds> load(job.processors);
        for (std::uint32_t number = 0; number < job.threads; ++number)
            load[job.home[number]] += threads_[job.first_thread + number].computes;
        double floor_us = to_us(std::ranges::max(load));
        if (anywhere) floor_us = to_us(std::accumulate(load.begin(), load.end(), Nanoseconds{})) / job.most_processors;
        outcome.applications.push_back({.arrival_us = to_us(job.arrival),
                                        .completed_us = completed_us_[job.number],
                                        .barriers = job.barriers,
                                        .floor_us = floor_us,
                                        .most_threads = job.most_threads,
                                        .fewest_processors = job.fewest_processors,
                                        .most_processors = job.most_processors,
                                        .moves = job.moves});
    }
    return outcome;
}

}  // namespace tollbar::scheduler
