// SPDX-License-Identifier: Apache-2.0
// Refuses machines and applications that make no sense, shares out processors, places threads, draws times.
#include "jobs.hpp"

#include "models/checks.hpp"
#include "events.hpp"

#include "analysis/checks.hpp"

#include <tollbar/models/workload.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace tollbar::scheduler {

using namespace detail;

namespace {

constexpr std::uint32_t most_threads = 1u << 20;
/// Computes without an end, and never comes to its barrier.
const Application neighbour{.barriers = 1, .barrier = "centralized"};

Nanoseconds time(double us, const std::string& what, double least_us = 0) {
    models::check_time(us, what, least_us);
    return std::llround(us * 1000);
}

/// "application 2: " where there are several.
std::string named(std::size_t number, std::size_t applications) {
    return applications > 1 ? "application " + std::to_string(number) + ": " : "";
}

void check_profile(const Application& application, const std::string& name) {
    const std::size_t barriers = application.profile_us.front().size();
    for (std::size_t thread = 0; thread < application.profile_us.size(); ++thread) {
        const std::vector<double>& times = application.profile_us[thread];
        if (times.size() != barriers)
            throw std::invalid_argument(name + "thread " + std::to_string(thread) + " computes " +
                                        std::to_string(times.size()) + " times, thread 0 " + std::to_string(barriers) +
                                        " times; at a barrier all threads meet equally often");
        for (const double us : times) time(us, name + "a computing time of thread " + std::to_string(thread));
    }
}

Job checked(const Application& application, std::size_t number, const std::string& name, std::uint64_t seed) {
    Job job{};
    job.application = &application;
    job.number = static_cast<std::uint32_t>(number);
    job.seed = seed;
    const bool recorded = !application.profile_us.empty(), has_events = !application.events.empty();
    if (recorded && has_events) throw std::invalid_argument(name + "a profile has computing times or events, not both");
    const std::uint64_t threads = recorded     ? application.profile_us.size()
                                  : has_events ? application.events.size()
                                               : application.threads;
    if (threads < 1 || threads > most_threads)
        throw std::invalid_argument(name + "an application has 1 to " + std::to_string(most_threads) +
                                    " threads, not " + std::to_string(threads));
    job.threads = job.unfinished = static_cast<std::uint32_t>(threads);
    job.barriers = recorded     ? application.profile_us.front().size()
                   : has_events ? check_events(application.events, name)
                                : application.barriers;
    if (job.barriers < 1) throw std::invalid_argument(name + "an application has at least 1 barrier, not 0");
    if (recorded)
        check_profile(application, name);
    else if (!has_events)
        time(application.compute_us, name + "the computing time");
    if (!(application.variation >= 0 && application.variation <= 1))
        throw std::invalid_argument(name + "the variation is a share from 0 to 1 of the computing time, not " +
                                    shortest(application.variation));
    job.arrival = time(application.arrival_us, name + "the arrival");
    return job;
}

/// Shares out the processors: as many as asked for, the rest equally, one more to the first.
void partition(const Machine& machine, std::vector<Job>& jobs) {
    std::uint64_t asked = 0, sharing = 0;
    for (const Job& job : jobs) {
        asked += job.application->processors;
        sharing += job.application->processors == 0;
    }
    if (asked + sharing > machine.processors)
        throw std::invalid_argument("the partitions need at least " + std::to_string(asked + sharing) +
                                    " processors, the machine has " + std::to_string(machine.processors));
    const std::uint64_t left = machine.processors - asked;
    std::uint32_t first = 0;
    std::uint64_t served = 0;
    for (Job& job : jobs) {
        job.first_processor = first;
        job.processors = job.application->processors;
        if (job.processors == 0) {
            job.processors = static_cast<std::uint32_t>(left / sharing + (served < left % sharing));
            ++served;
        }
        first += job.processors;
    }
}

void check_size(const Job& job, const std::string& name) {
    if (job.processors <= job.threads) return;
    throw std::invalid_argument(name + std::to_string(job.processors) + " processors are more than its " +
                                std::to_string(job.threads) + " threads; give it at most one a thread");
}

void place(Job& job, const std::string& name) {
    const Application& application = *job.application;
    if (application.placement == Placement::given) {
        if (application.processor_of.size() != job.threads)
            throw std::invalid_argument(name + "the placement names a processor for " +
                                        std::to_string(application.processor_of.size()) + " threads, not for all " +
                                        std::to_string(job.threads));
        for (std::uint32_t thread = 0; thread < job.threads; ++thread)
            if (application.processor_of[thread] >= job.processors)
                throw std::invalid_argument(name + "thread " + std::to_string(thread) + " is placed on processor " +
                                            std::to_string(application.processor_of[thread]) + "; there are 0.." +
                                            std::to_string(job.processors - 1));
    }
    job.home = homes(application, job.threads, job.processors);
    job.note_size(job.processors);
}

void check_kernel(const Machine& machine) {
    if (machine.kernel != Kernel::paper && machine.policy != Policy::partition)
        throw std::invalid_argument("a fair kernel has a queue a processor; it knows only the policy partition");
    if (machine.kernel != Kernel::paper && machine.access_us > 0)
        throw std::invalid_argument(
            "words of memory that serve one access at a time are simulated under the paper's "
            "kernel only");
    if (machine.neighbours > most_threads)
        throw std::invalid_argument("there are at most " + std::to_string(most_threads) + " neighbours, not " +
                                    std::to_string(machine.neighbours));
    if (machine.neighbours > 0 && machine.policy == Policy::dedicated)
        throw std::invalid_argument("a neighbour never ends, so a dedicated machine would never come to others");
    if (machine.neighbours > 0 && machine.policy == Policy::dynamic)
        throw std::invalid_argument("neighbours live on processors; partitions that change have none of their own");
    if (machine.move_us != 0 && machine.policy != Policy::dynamic)
        throw std::invalid_argument("only the policy dynamic moves threads to other processors");
}

void check_dynamic(const Machine& machine, const std::vector<Application>& applications) {
    if (applications.size() > machine.processors)
        throw std::invalid_argument(std::to_string(applications.size()) +
                                    " applications need a processor each, the machine has " +
                                    std::to_string(machine.processors));
    for (std::size_t number = 0; number < applications.size(); ++number)
        if (applications[number].placement == Placement::given)
            throw std::invalid_argument(named(number, applications.size()) +
                                        "where partitions change no placement can be given; it is cyclic or block");
}

Job neighbours(const Machine& machine, std::size_t number, std::uint64_t first_thread) {
    Job job{};
    job.application = &neighbour;
    job.number = static_cast<std::uint32_t>(number);
    job.threads = machine.neighbours;
    job.first_thread = static_cast<std::uint32_t>(first_thread);
    job.processors = machine.processors;
    for (std::uint32_t thread = 0; thread < job.threads; ++thread) job.home.push_back(thread % machine.processors);
    job.endless = true;
    return job;
}

}  // namespace

Event Job::event(std::uint32_t thread, std::uint64_t index) const {
    if (!application->events.empty()) return application->events[thread][index];
    return {.kind = index % 2 == 0 ? Event::Kind::compute : Event::Kind::barrier};
}

Nanoseconds Job::compute(std::uint32_t thread, std::uint64_t index) const {
    if (endless) return never / 4;
    if (!application->events.empty()) return std::llround(application->events[thread][index].us * 1000);
    const std::uint64_t episode = index / 2;
    if (!application->profile_us.empty()) return std::llround(application->profile_us[thread][episode] * 1000);
    const double us = Workload::drawn_us(application->compute_us, application->variation, seed, thread, episode);
    return std::llround(us * 1000);
}

std::vector<std::uint32_t> Job::queueing() const {
    std::vector<std::uint32_t> order(threads);
    std::iota(order.begin(), order.end(), 0u);
    if (application->order == Order::numbered) return order;
    // Not std::shuffle: what a seed gives must not depend on the library.
    for (std::uint32_t left = threads; left > 1; --left)
        std::swap(order[left - 1], order[mixed(mixed(seed) ^ left) % left]);
    return order;
}

void Job::note_size(std::uint32_t processors_now) {
    fewest_processors = most_processors == 0 ? processors_now : std::min(fewest_processors, processors_now);
    most_processors = std::max(most_processors, processors_now);
    std::vector<std::uint32_t> count(processors);
    for (const std::uint32_t processor : home) most_threads = std::max(most_threads, ++count[processor]);
}

std::vector<std::uint32_t> homes(const Application& application, std::uint32_t threads, std::uint32_t processors) {
    if (application.placement == Placement::given) return application.processor_of;
    std::vector<std::uint32_t> home;
    const std::uint32_t few = threads / processors, larger = threads % processors, in_larger = larger * (few + 1);
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        home.push_back(application.placement == Placement::cyclic ? thread % processors
                       : thread < in_larger                       ? thread / (few + 1)
                                                                  : larger + (thread - in_larger) / few);
    return home;
}

Clockwork clockwork(const Machine& machine) {
    if (machine.processors < 1 || machine.processors > most_threads)
        throw std::invalid_argument("a machine has 1 to " + std::to_string(most_threads) + " processors, not " +
                                    std::to_string(machine.processors));
    const Clockwork found{.quantum = time(machine.quantum_us, "the quantum", 0.001),
                          .switching = time(machine.switch_us, "a context switch"),
                          .access = time(machine.access_us, "an access to memory"),
                          .moving = time(machine.move_us, "moving a thread"),
                          .tick = time(machine.tick_us, "the tick", 0.001),
                          .waking = time(machine.wake_us, "waking"),
                          .calling = time(machine.call_us, "a call")};
    if (machine.kernel == Kernel::paper) return found;
    if (found.switching < 1 || found.switching >= found.quantum)
        throw std::invalid_argument("under a fair kernel a context switch takes time, but less than a slice; " +
                                    std::to_string(found.switching) + " ns is not between 0 and " +
                                    std::to_string(found.quantum) + " ns");
    return found;
}

std::vector<Job> prepare(const Machine& machine, const std::vector<Application>& applications) {
    check_kernel(machine);
    if (applications.empty()) throw std::invalid_argument("there is no application to simulate");
    std::vector<Job> jobs;
    std::uint64_t threads = 0;
    for (std::size_t number = 0; number < applications.size(); ++number) {
        const std::string name = named(number, applications.size());
        jobs.push_back(checked(applications[number], number, name, mixed(machine.seed) + number));
        jobs.back().first_thread = static_cast<std::uint32_t>(threads);
        threads += jobs.back().threads;
        jobs.back().processors = machine.processors;
        if (applications[number].yields != 0 &&
            (machine.kernel == Kernel::paper || applications[number].waiting != Waiting::smart))
            throw std::invalid_argument(name + "only who waits smart under a fair kernel yields before it sleeps");
        if (applications[number].processors != 0 && machine.policy != Policy::partition)
            throw std::invalid_argument(name + "only the policy partition gives an application processors of its own");
    }
    if (machine.policy == Policy::dynamic) check_dynamic(machine, applications);
    if (machine.processors > threads)
        throw std::invalid_argument(std::to_string(machine.processors) + " processors are more than the " +
                                    std::to_string(threads) + " threads; give the machine at most one a thread");
    if (machine.policy == Policy::partition) partition(machine, jobs);
    for (Job& job : jobs) {
        const std::string name = named(job.number, jobs.size());
        if (machine.policy == Policy::partition) check_size(job, name);
        if (machine.policy == Policy::dynamic)
            job.home = homes(*job.application, job.threads, job.processors);  // until it arrives
        else
            place(job, name);
    }
    if (machine.neighbours > 0) jobs.push_back(neighbours(machine, jobs.size(), threads));
    return jobs;
}

}  // namespace tollbar::scheduler
