// SPDX-License-Identifier: Apache-2.0
// The event loop: from one instant at which something ends to the next. What happens at an instant is settled
// processor by processor until nothing changes; the end of a quantum comes last and is settled likewise.
#include <tollbar/scheduler.hpp>

#include "scheduler_jobs.hpp"
#include "scheduler_ledger.hpp"
#include "scheduler_meeting.hpp"
#include "scheduler_queues.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar::scheduler {

namespace {

constexpr std::uint64_t events_between_looks = 1u << 16;

class Simulation {
public:
    Simulation(const Machine& machine, const std::vector<Application>& applications, const Window& window)
        : clockwork_(clockwork(machine)), jobs_(prepare(machine, applications)), queues_(machine, jobs_),
          ledger_(machine.processors, jobs_.size(), window), processors_(machine.processors) {
        for (const Job& job : jobs_) {
            Group group{.meeting = make_meeting(job.application->barrier, job.home),
                        .waiting = job.application->waiting,
                        .first = static_cast<Thread>(threads_.size()),
                        .left = job.threads};
            for (std::uint32_t number = 0; number < job.threads; ++number)
                threads_.push_back({.job = job.number, .number = number});
            groups_.push_back(std::move(group));
            total_ += job.barriers * job.threads;
        }
        outcome_.applications.resize(jobs_.size());
        arrivals_.resize(jobs_.size());
        std::iota(arrivals_.begin(), arrivals_.end(), 0u);
        std::ranges::stable_sort(arrivals_, {}, [this](std::uint32_t job) { return jobs_[job].arrival; });
    }

    Outcome run(const Watch& watch) {
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

private:
    struct Group {  // the threads of one application
        std::unique_ptr<Meeting> meeting;
        Waiting waiting;
        Thread first;
        std::uint32_t left;
    };

    struct Running {
        std::uint32_t job;
        std::uint32_t number;
        std::uint64_t episode = 0;  // barriers passed
        bool computing = false;     // else it is at its barrier
        Nanoseconds remaining = 0;  // of its computing, while it does not run
        Nanoseconds computes = 0;   // in all
    };

    struct Processor {
        std::optional<Thread> thread;  // runs, or is being switched to
        bool switching = false;
        Nanoseconds busy_until = never;  // end of the switch or of the computing; never when spinning or idle
        Nanoseconds dispatched = 0;      // when it took its thread
        bool used = false;               // its first thread costs no switch
    };

    bool unfinished() const { return passed_ < total_; }

    Nanoseconds next_instant(Nanoseconds quantum_end) const {
        Nanoseconds next = quantum_end;
        for (const Processor& processor : processors_) next = std::min(next, processor.busy_until);
        if (admitted_ < arrivals_.size()) next = std::min(next, jobs_[arrivals_[admitted_]].arrival);
        return next;
    }

    void admit() {
        for (; admitted_ < arrivals_.size() && jobs_[arrivals_[admitted_]].arrival <= now_; ++admitted_) {
            const Job& job = jobs_[arrivals_[admitted_]];
            for (std::uint32_t number = 0; number < job.threads; ++number) {
                const Thread thread = groups_[job.number].first + number;
                compute(thread);
                queues_.at(job.number, job.home[number]).push_back(thread);
            }
            queues_.arrived(job.number);
        }
    }

    void compute(Thread thread) {
        Running& running = threads_[thread];
        running.computing = true;
        running.remaining = jobs_[running.job].compute(running.number, running.episode);
        running.computes += running.remaining;
    }

    void settle() {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::uint32_t number = 0; number < processors_.size(); ++number) changed |= act(number);
        }
    }

    /// Computing that ends with the quantum counts: its thread does what it can at the barrier, but yields no more.
    void note_arrivals() {
        for (std::uint32_t number = 0; number < processors_.size(); ++number) {
            Processor& processor = processors_[number];
            if (processor.busy_until != now_ || processor.switching) continue;
            if (come_to_barrier(number).through) pass(number);
        }
    }

    /// The processor's thread does what it can at the barrier.
    Meeting::Step come_to_barrier(std::uint32_t number) {
        processors_[number].busy_until = never;
        Running& running = threads_[*processors_[number].thread];
        Meeting& meeting = *groups_[running.job].meeting;
        const bool enters = std::exchange(running.computing, false);
        if (enters) meeting.enter(running.number);
        Meeting::Step step = meeting.advance(running.number);
        step.moved |= enters;
        if (step.moved) ++moves_;
        return step;
    }

    /// Does what the processor can do at this instant; whether that was anything others may see.
    bool act(std::uint32_t number) {
        Processor& processor = processors_[number];
        bool changed = false;
        while (true) {
            if (!processor.thread && !take_next(number)) return changed;
            if (processor.busy_until > now_ && processor.busy_until != never) return changed;
            const Running& running = threads_[*processor.thread];
            const bool ended = processor.busy_until != never && !std::exchange(processor.switching, false);
            if (running.computing && !ended) {
                processor.busy_until = now_ + running.remaining;
                note(number, Activity::computing);
                if (running.remaining > 0) return changed;
            }
            const Meeting::Step step = come_to_barrier(number);
            changed |= step.moved;
            if (step.through) {
                pass(number);
                continue;
            }
            note(number, Activity::spinning);
            if (!yield(number)) return changed;
            changed = true;
        }
    }

    /// The processor's thread leaves the barrier, and perhaps the machine.
    void pass(std::uint32_t number) {
        Processor& processor = processors_[number];
        const Thread thread = *processor.thread;
        Running& running = threads_[thread];
        ++passed_;
        const Job& job = jobs_[running.job];
        if (++running.episode < job.barriers) {
            compute(thread);
            return;
        }
        processor.thread.reset();
        note(number, Activity::idle);
        if (--groups_[running.job].left > 0) return;
        outcome_.applications[running.job].completed_us = to_us(now_);
        queues_.completed(running.job);
    }

    bool take_next(std::uint32_t number) {
        Queue* const queue = queues_.of(number);
        if (!queue || queue->empty()) return false;
        dispatch(number, *queue, 0, 0);
        return true;
    }

    /// The queue's thread at `place` gets the processor, after `left` of an earlier switch and a switch.
    void dispatch(std::uint32_t number, Queue& queue, std::size_t place, Nanoseconds left) {
        Processor& processor = processors_[number];
        processor.thread = queue[place];
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(place));
        processor.dispatched = now_;
        processor.busy_until = never;
        processor.switching = false;
        if (!std::exchange(processor.used, true)) return;
        ++outcome_.switches;
        if (left + clockwork_.switching == 0) return;
        processor.switching = true;
        processor.busy_until = now_ + left + clockwork_.switching;
        note(number, Activity::switching);
    }

    /// What is left of the switch that the processor is in.
    Nanoseconds switch_left(const Processor& processor) const {
        return processor.switching ? processor.busy_until - now_ : 0;
    }

    /// A thread that waits gives its processor to another one, if its way of waiting finds one.
    bool yield(std::uint32_t number) {
        Processor& processor = processors_[number];
        const Thread thread = *processor.thread;
        const Waiting waiting = groups_[threads_[thread].job].waiting;
        Queue* const queue = queues_.of(number);
        if (waiting == Waiting::spin || !queue || queue->empty()) return false;
        std::size_t place = 0;
        // Free switches from thread to thread that all wait would never end.
        if (waiting == Waiting::smart || clockwork_.switching == 0) {
            const auto able = std::ranges::find_if(*queue, [this](Thread other) { return can_go_on(other); });
            if (able == queue->end()) return false;
            if (waiting == Waiting::smart) place = static_cast<std::size_t>(able - queue->begin());
        }
        queue->push_back(thread);
        dispatch(number, *queue, place, 0);
        return true;
    }

    bool can_go_on(Thread thread) const {
        const Running& running = threads_[thread];
        return running.computing || groups_[running.job].meeting->can_advance(running.number);
    }

    /// The processor's thread goes to the tail of the queue it came from.
    void preempt(Processor& processor, Queue& queue) {
        Running& running = threads_[*processor.thread];
        if (processor.busy_until != never && !processor.switching) running.remaining = processor.busy_until - now_;
        queue.push_back(*processor.thread);
        processor.thread.reset();
    }

    void end_quantum() {
        if (queues_.shared()) return rotate_shared();
        left_behind_.clear();
        for (std::uint32_t number = 0; number < processors_.size(); ++number)
            left_behind_.push_back(queues_.of(number));
        const bool new_owner = queues_.next_turn();
        for (std::uint32_t number = 0; number < processors_.size(); ++number) {
            Processor& processor = processors_[number];
            Queue* const next = queues_.of(number);
            if (!next || (next->empty() && !new_owner)) continue;
            const Nanoseconds left = switch_left(processor);
            if (processor.thread) preempt(processor, *left_behind_[number]);
            if (!next->empty()) {
                dispatch(number, *next, 0, left);
                continue;
            }
            processor.switching = false;
            processor.busy_until = never;
            note(number, Activity::idle);
        }
    }

    /// As many threads as wait in the one queue replace those that have had their processors longest.
    void rotate_shared() {
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

    void note(std::uint32_t number, Activity activity) {
        const Processor& processor = processors_[number];
        State state{.activity = activity};
        if (processor.thread) {
            state.application = threads_[*processor.thread].job;
            state.thread = threads_[*processor.thread].number;
        }
        ledger_.set(number, state, now_);
    }

    /// Switches nearly as long as a quantum can starve a thread for ever.
    void check_that_something_moves() {
        const bool computing = std::ranges::any_of(processors_, [this](const Processor& processor) {
            return processor.thread && !processor.switching && threads_[*processor.thread].computing;
        });
        if (!computing && moves_ == moves_before_ && admitted_ == arrivals_.size())
            throw std::invalid_argument("nothing moves: a context switch of " + std::to_string(clockwork_.switching) +
                                        " ns leaves no time in a quantum of " + std::to_string(clockwork_.quantum) +
                                        " ns; make the quantum longer");
        moves_before_ = moves_;
    }

    Outcome finish() {
        outcome_.completed_us = to_us(now_);
        ledger_.settle(now_, outcome_);
        for (const Job& job : jobs_) {
            Completion& completion = outcome_.applications[job.number];
            completion.arrival_us = to_us(job.arrival);
            completion.barriers = job.barriers;
            std::vector<Nanoseconds> load(job.processors);
            std::vector<std::uint32_t> count(job.processors);
            for (std::uint32_t number = 0; number < job.threads; ++number) {
                load[job.home[number]] += threads_[groups_[job.number].first + number].computes;
                ++count[job.home[number]];
            }
            completion.floor_us = to_us(std::ranges::max(load));
            if (queues_.shared())  // its threads may run anywhere
                completion.floor_us = to_us(std::accumulate(load.begin(), load.end(), Nanoseconds{})) / job.processors;
            completion.most_threads = std::ranges::max(count);
        }
        return std::move(outcome_);
    }

    Clockwork clockwork_;
    std::vector<Job> jobs_;
    Queues queues_;
    Ledger ledger_;
    std::vector<Processor> processors_;
    std::vector<Running> threads_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> arrivals_;  // applications in order of arrival
    std::vector<Queue*> left_behind_;      // of each processor, when a quantum ends
    std::size_t admitted_ = 0;
    Nanoseconds now_ = 0;
    std::uint64_t passed_ = 0, total_ = 0, moves_ = 0, moves_before_ = 0;
    Outcome outcome_;
};

}  // namespace

double Outcome::utilisation() const noexcept {
    const double all = computing_us + spinning_us + switching_us + idle_us;
    return all > 0 ? computing_us / all : 0;
}

Outcome simulate(const Machine& machine, const std::vector<Application>& applications, const Window& window,
                 const Watch& watch) {
    return Simulation(machine, applications, window).run(watch);
}

}  // namespace tollbar::scheduler
