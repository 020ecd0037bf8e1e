// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tollbar::scheduler {

using namespace detail;

Programs::Programs(const Machine& machine, const std::vector<Application>& applications)
    : access_(machine.access_us > 0 ? Access::counted : Access::free), jobs_(prepare(machine, applications)) {
    for (const Job& job : jobs_) {
        barriers_.emplace_back();
        settle_in(job);
        for (std::uint32_t number = 0; number < job.threads; ++number)
            threads_.push_back({.job = job.number, .number = number});
        if (!job.endless) total_ += job.barriers * job.threads;
    }
    messages_.resize(jobs_.size());
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
    for (std::uint32_t number = 0; number < job.threads; ++number) computes(threads_[job.first_thread + number]);
    return &job;
}

void Programs::settle_in(const Job& job) {
    barriers_[job.number] = std::make_unique<Barrier>(make_barrier(job.application->barrier, job.home), access_);
}

Barrier::Advance Programs::meet(Thread thread) {
    Running& running = threads_[thread];
    Barrier& barrier = *barriers_[running.job];
    Barrier::Advance step{};
    if (std::exchange(running.computing, false)) ++running.event;
    const bool accessed = std::exchange(running.accessing, false), enters = !running.meeting;
    if (enters && !exchange(running, step, accessed)) {
        if (step.moved) ++moves_;
        return step;
    }
    const bool talked = step.moved;
    if (enters) barrier.enter(running.number);
    running.meeting = true;
    step = barrier.advance(running.number, accessed && !enters);
    running.accessing = step.access.has_value();
    if (!step.through) running.word = step.access ? *step.access : barrier.polls(running.number);
    step.moved |= enters || talked;
    if (step.moved) ++moves_;
    return step;
}

bool Programs::exchange(Running& running, Barrier::Advance& step, bool accessed) {
    const Job& job = jobs_[running.job];
    Messages& messages = messages_[running.job];
    for (;; ++running.event) {
        const Event event = job.event(running.number, running.event);
        if (event.kind == Event::Kind::barrier) return true;
        if (computes(running)) return false;
        const bool sends = event.kind == Event::Kind::send;
        running.word = sends ? event.thread : running.number;
        if (!sends && !messages.has(event.thread, running.number)) return false;
        if (access_ == Access::counted && !std::exchange(accessed, false)) {
            running.accessing = true;
            step.access = running.word;
            return false;
        }
        if (sends)
            messages.send(running.number, event.thread);
        else
            messages.receive(event.thread, running.number);
        step.moved = true;
    }
}

bool Programs::pass(Thread thread) {
    Running& running = threads_[thread];
    ++passed_;
    ++running.event;
    running.meeting = false;
    running.yields = 0;
    if (++running.episode == jobs_[running.job].barriers) return false;
    computes(running);
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
    if (running.works()) return true;
    if (running.meeting) return barriers_[running.job]->can_advance(running.number);
    const Event event = jobs_[running.job].event(running.number, running.event);
    return event.kind != Event::Kind::receive || messages_[running.job].has(event.thread, running.number);
}

State Programs::state(const std::optional<Thread>& thread, Activity activity) const {
    if (!thread) return {.activity = activity};
    const Running& running = threads_[*thread];
    if (activity == Activity::computing && jobs_[running.job].endless) activity = Activity::neighbour;
    return {.activity = activity, .application = running.job, .thread = running.number};
}

bool Programs::computes(Running& running) {
    const Job& job = jobs_[running.job];
    if (job.event(running.number, running.event).kind != Event::Kind::compute) return false;
    running.computing = true;
    running.remaining = job.compute(running.number, running.event);
    running.computes += running.remaining;
    return true;
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
