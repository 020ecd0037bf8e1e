// SPDX-License-Identifier: Apache-2.0
// The ranks of a measuring program: threads that run one job together, asleep in between.
#pragma once

#include "cpus.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/detail/sync.hpp>

#include <pthread.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tollbar::bench {

using namespace detail;

using Job = std::function<void(Rank)>;

class Visit;
struct Pace;

/// A pthread barrier: where threads meet outside of what is measured, so whoever waits here sleeps, and a peer to be
/// measured. Works between processes when it lies in memory that they share and is made with Scope::shared.
/// Memory order: what anybody did before meet() is visible to everybody after it.
class Meeting {
public:
    explicit Meeting(unsigned threads, Scope scope = Scope::process);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    /// True for one of them.
    bool meet() noexcept { return pthread_barrier_wait(&barrier_) == PTHREAD_BARRIER_SERIAL_THREAD; }
    void episode() noexcept { meet(); }

private:
    pthread_barrier_t barrier_;
};

/// The workers that run the jobs: threads, an OpenMP team, or processes (process_crew.hpp): then each of them has a
/// crew and goes through the launch on its own, deciding what the first one decides.
class Crew {
public:
    virtual ~Crew() = default;
    virtual Rank ranks() const noexcept = 0;

    /// Runs job(rank) on every rank at once and returns when all are done. A job that throws ends the program:
    /// its rank would be missed in every later episode.
    virtual void run(const Job& job) = 0;

    /// Before the floors are measured: nobody may be spinning.
    virtual void rest() {}

    /// A new visit for candidates to receive, with a batch of that many episodes (0: to be calibrated).
    virtual std::unique_ptr<Visit> visit(const Pace& pace, std::uint64_t episodes);

    /// Whether this process measures the floors: only one does.
    virtual bool is_first() const noexcept { return true; }

    /// The first process's number, in every process.
    virtual std::uint64_t told(std::uint64_t mine) { return mine; }
    bool agree(bool mine) { return told(mine ? 1 : 0) == 1; }
};

/// Takes the rank's place and runs the job; when either throws, says so in one line and ends the program with status 1.
void run_or_exit(const Places& places, const Job& job, Rank rank) noexcept;

/// One thread a rank; each takes its place anew before every job.
class ThreadCrew final : public Crew {
public:
    ThreadCrew(Rank ranks, Places places);
    ~ThreadCrew() override;

    Rank ranks() const noexcept override { return ranks_; }
    void run(const Job& job) override;

private:
    void work(Rank rank);

    Rank ranks_;
    Places places_;
    Meeting gate_;
    const Job* job_ = nullptr;  // null when they are asked to leave
    std::vector<std::thread> threads_;
};

}  // namespace tollbar::bench
