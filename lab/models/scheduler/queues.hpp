// SPDX-License-Identifier: Apache-2.0
// The policies, as the answer to one question: which queue does a processor take its threads from?
#pragma once

#include "jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tollbar::scheduler {

using Queue = std::deque<Thread>;

class Queues {
public:
    Queues(const Machine& machine, const std::vector<Job>& jobs) : policy_(machine.policy) {
        if (policy_ == Policy::global) {
            queues_.resize(1);
            return;
        }
        if (policy_ == Policy::dynamic) {  // a processor's threads are those of its owner
            queues_.resize(machine.processors);
            return;
        }
        std::size_t queues = 0;
        for (const Job& job : jobs) {
            if (job.endless && policy_ == Policy::partition) continue;  // in the queues of others
            first_processor_.push_back(job.first_processor);
            first_queue_.push_back(queues);
            queues += job.processors;
        }
        queues_.resize(queues);
        owner_.assign(machine.processors, jobs.size());
        if (policy_ == Policy::partition)
            for (const Job& job : jobs)
                if (!job.endless) std::fill_n(owner_.begin() + job.first_processor, job.processors, job.number);
    }

    bool shared() const { return policy_ == Policy::global; }

    /// The queue of a processor; null when nobody owns it now.
    Queue* of(std::uint32_t processor) {
        if (shared()) return &queues_[0];
        if (policy_ == Policy::dynamic) return &queues_[processor];
        const std::size_t owner = owner_[processor];
        if (owner >= first_queue_.size()) return nullptr;
        return &queues_[first_queue_[owner] + processor - first_processor_[owner]];
    }

    /// The queue of a thread that lives on `home`; null for a neighbour on a processor that nobody owns.
    Queue* at(std::uint32_t job, std::uint32_t home) {
        if (shared() || policy_ == Policy::dynamic) return of(home);
        return job < first_queue_.size() ? &queues_[first_queue_[job] + home] : of(home);
    }

    void arrived(std::uint32_t job) {
        if (!takes_turns()) return;
        present_.push_back(job);
        if (present_.size() == 1) give_all_to(job);
    }

    void completed(std::uint32_t job) {
        if (!takes_turns()) return;
        const bool had_turn = present_.front() == job;
        std::erase(present_, job);
        if (had_turn && !present_.empty()) give_all_to(present_.front());
    }

    /// A quantum has ended. Whether the machine now belongs to another application.
    bool next_turn() {
        if (policy_ != Policy::coscheduled || present_.size() < 2) return false;
        std::rotate(present_.begin(), present_.begin() + 1, present_.end());
        give_all_to(present_.front());
        return true;
    }

private:
    bool takes_turns() const { return policy_ == Policy::coscheduled || policy_ == Policy::dedicated; }
    void give_all_to(std::uint32_t job) { std::ranges::fill(owner_, job); }

    Policy policy_;
    std::vector<Queue> queues_;
    std::vector<std::size_t> first_queue_;
    std::vector<std::uint32_t> first_processor_;
    std::vector<std::size_t> owner_;     // of each processor; no job while nobody is there
    std::deque<std::uint32_t> present_;  // applications in the order of their turns; the first has the machine
};

}  // namespace tollbar::scheduler
