// SPDX-License-Identifier: Apache-2.0
// The ranks of a measuring program: threads that run one job together, asleep in between.
#include "crew.hpp"

#include "tolls.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

namespace tollbar::bench {

namespace {

/// A visit by the threads of this process.
class ThreadVisit final : public Visit {
public:
    ThreadVisit(Rank ranks, const Pace& pace, std::uint64_t batch)
        : Visit(timing_, stamping_, stamps_, isolated_), timing_{.pace = pace, .episodes = batch}, meeting_(ranks),
          stamps_(ranks, pace.stamped), isolated_(ranks, pace.isolated), tolls_(ranks) {}

    void meet() override { meeting_.meet(); }
    const TollBoard& tolls() override { return tolls_; }

private:
    Timing timing_;
    Stamping stamping_;
    Meeting meeting_;
    Stamps stamps_;
    Stamps isolated_;
    TollBoard tolls_;
};

}  // namespace

Meeting::Meeting(unsigned threads, Scope scope) {
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes,
                                   scope == Scope::shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    const int error = pthread_barrier_init(&barrier_, &attributes, threads);
    pthread_barrierattr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
}

Meeting::~Meeting() { pthread_barrier_destroy(&barrier_); }

std::unique_ptr<Visit> Crew::visit(const Pace& pace, std::uint64_t episodes) {
    return std::make_unique<ThreadVisit>(ranks(), pace, episodes);
}

void run_or_exit(const Places& places, const Job& job, Rank rank) noexcept {
    try {
        places.take(rank);
        job(rank);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %u: %s\n", rank, error.what());
        std::_Exit(1);
    }
}

ThreadCrew::ThreadCrew(Rank ranks, Places places) : ranks_(ranks), places_(std::move(places)), gate_(ranks + 1) {
    for (Rank rank = 0; rank < ranks; ++rank) threads_.emplace_back([this, rank] { work(rank); });
}

ThreadCrew::~ThreadCrew() {
    job_ = nullptr;
    gate_.meet();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadCrew::work(Rank rank) {
    for (;;) {
        gate_.meet();
        if (job_ == nullptr) return;
        run_or_exit(places_, *job_, rank);
        gate_.meet();
    }
}

void ThreadCrew::run(const Job& job) {
    job_ = &job;
    gate_.meet();
    gate_.meet();
}

}  // namespace tollbar::bench
