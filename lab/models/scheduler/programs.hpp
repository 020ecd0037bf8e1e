// SPDX-License-Identifier: Apache-2.0
// The applications of a simulation as they run: how far each thread is, and the barriers between them. The order
// in which threads run is the kernel's business: scheduler_simulation.hpp, scheduler_fair.hpp.
#pragma once

#include "barrier.hpp"
#include "events.hpp"
#include "history.hpp"
#include "jobs.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tollbar::scheduler {

class Programs {
public:
    struct Running {
        std::uint32_t job;
        std::uint32_t number;
        std::uint64_t episode = 0;  // barriers passed
        std::uint64_t event = 0;    // that it is at
        bool computing = false;     // else it meets others or waits
        bool meeting = false;       // it has entered its barrier
        bool accessing = false;     // there it gets at a word of memory
        Word word = 0;              // which it gets at or polls
        Nanoseconds remaining = 0;  // of its work; what that means while it runs is the kernel's business
        Nanoseconds computes = 0;   // in all
        std::uint32_t yields = 0;   // at this barrier, under a fair kernel
        bool moved = false;         // to another processor, and has not run since

        /// Whether what it does next takes time.
        bool works() const { return computing || accessing; }
    };

    Programs(const Machine& machine, const std::vector<Application>& applications);

    const std::vector<Job>& jobs() const { return jobs_; }
    Job& job(std::uint32_t number) { return jobs_[number]; }
    bool finished(Thread thread) const { return threads_[thread].episode == job_of(thread).barriers; }
    std::size_t threads() const { return threads_.size(); }
    Running& operator[](Thread thread) { return threads_[thread]; }
    const Running& operator[](Thread thread) const { return threads_[thread]; }
    const Job& job_of(Thread thread) const { return jobs_[threads_[thread].job]; }

    bool unfinished() const { return passed_ < total_; }
    Progress progress(Nanoseconds now) const { return {to_us(now), passed_, total_}; }
    /// How often somebody moved at a barrier.
    std::uint64_t moves() const { return moves_; }

    /// When the next application arrives.
    Nanoseconds next_arrival() const;
    /// The next application that has arrived by now, if there is one; its threads begin to compute.
    Job* admit(Nanoseconds now);
    /// The application, which has just arrived, lives where its job says now; so the groups of its barrier do.
    void settle_in(const Job& job);

    /// Does what the thread can do with others: messages and the barrier. How long it takes to get at a word is the
    /// kernel's business. It waits for others if it neither works nor is through.
    Barrier::Advance meet(Thread thread);
    /// The thread leaves the barrier. Whether it goes on: else it has passed its last one.
    bool pass(Thread thread);
    /// After pass: whether that was the application's last thread, which completes it.
    bool complete(Thread thread, Nanoseconds now);
    bool can_go_on(Thread thread) const;

    State state(const std::optional<Thread>& thread, Activity activity) const;

    /// The results of the applications; `anywhere`: their threads do not stay on a processor.
    Outcome finish(bool anywhere, Nanoseconds now);

private:
    /// If the thread is to compute, it begins. Whether it does.
    bool computes(Running& running);
    /// Sends and receives up to the next barrier, as far as that can be; whether the thread is there.
    bool exchange(Running& running, Barrier::Advance& step, bool accessed);

    Access access_;
    std::vector<Job> jobs_;  // the neighbours' is the last
    std::vector<Running> threads_;
    std::vector<std::unique_ptr<Barrier>> barriers_;  // of each application, as are the messages
    std::vector<Messages> messages_;
    std::vector<std::uint32_t> arrivals_;  // applications in order of arrival
    std::vector<double> completed_us_;     // of each application
    std::size_t admitted_ = 0;
    std::uint64_t passed_ = 0, total_ = 0, moves_ = 0;
};

}  // namespace tollbar::scheduler
