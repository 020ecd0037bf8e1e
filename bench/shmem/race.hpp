// SPDX-License-Identifier: Apache-2.0
// The forms of the dynamic sparse data exchange as candidates: each in turn runs all its iterations.
#pragma once

#include "candidate.hpp"
#include "dsde.hpp"
#include "nbx.hpp"
#include "process_crew.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace tollbar::bench {

/// What the forms have in common, and what the last one found out.
struct Race {
    const MpiJob& job;
    std::uint64_t seed;
    std::uint64_t iterations;
    bool crowded;
    Mail mail{};  ///< of all ranks together
};

/// The loop over OpenSHMEM with one kind of barrier.
template <class Barrier>
class SplitExchange {
public:
    template <class... Arguments>
    explicit SplitExchange(const Race& race, const Arguments&... arguments)
        : exchange_(race.job.rank(), race.job.ranks(), race.seed), barrier_(arguments...) {}

    void run(std::uint64_t iterations, bool crowded) { exchange_by(exchange_, barrier_, iterations, crowded); }
    const Mail& mail() const noexcept { return exchange_.mail(); }

private:
    Exchange exchange_;
    Barrier barrier_;
};

/// The loop over messages.
class MessageExchange : public Nbx {
public:
    explicit MessageExchange(const Race& race) : Nbx(race.job.rank(), race.job.ranks(), race.seed) {}
};

/// A form takes its turn: visit.timing has what rank 0 took for all iterations, race.mail what became of the letters.
template <class Form>
class Runner final : public Candidate {
public:
    template <class... Arguments>
    Runner(Label label, Race& race, Arguments... arguments)
        : Candidate(std::move(label)), race_(race),
          make_([&race, arguments...] { return std::make_unique<Form>(race, arguments...); }) {}

    void receive(Crew& crew, Visit& visit) override {
        const std::unique_ptr<Form> form = make_();
        crew.run([&](Rank rank) {
            form->run(race_.iterations / 10 + 1, race_.crowded);
            visit.line_up();
            const Ticks began = ticks();
            form->run(race_.iterations, race_.crowded);
            if (rank == 0) {
                visit.timing.elapsed_ns = nanoseconds(ticks() - began);
                visit.timing.timed = race_.iterations;
            }
            visit.meet();
        });
        race_.mail = in_all(form->mail());
    }

private:
    static Mail in_all(const Mail& own) {
        Mail sum;
        PMPI_Allreduce(&own.sent, &sum.sent, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        PMPI_Allreduce(&own.received, &sum.received, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        PMPI_Allreduce(&own.damaged, &sum.damaged, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        return sum;
    }

    Race& race_;
    std::function<std::unique_ptr<Form>()> make_;
};

}  // namespace tollbar::bench
