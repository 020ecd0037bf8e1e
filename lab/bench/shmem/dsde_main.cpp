// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-dsde: the dynamic sparse data exchange in all its forms, side by side. PE 0 prints.
#include "nbx.hpp"
#include "process_crew.hpp"
#include "split.hpp"
#include "variants.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace tollbar::bench {

namespace {

/// The settings that all forms share, and the result of the last one.
struct Race {
    const Peers& job;
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

Roster forms(Race& race) {
    Roster roster;
    const auto add = [&]<class Form>(std::type_identity<Form>, Label label, const auto&... arguments) {
        roster.candidates.push_back(std::make_unique<Runner<Form>>(std::move(label), race, arguments...));
    };
    add(std::type_identity<MessageExchange>{}, {"MPI NBX", "mpi"});
    add(std::type_identity<SplitExchange<IbarrierSplit>>{}, {"MPI_Ibarrier", "mpi"});
    add(std::type_identity<SplitExchange<BlockingSplit>>{}, {"shmem_barrier_all", "peer"});
    for (const Variant& variant : variants(roster.skipped))
        add(std::type_identity<SplitExchange<VariantSplit>>{}, label_of(variant), variant);
    return roster;
}

/// One turn. False when letters were lost or damaged.
bool visit(Crew& crew, Candidate& one, Race& race, const Pace& pace, std::uint32_t round) {
    const std::unique_ptr<Visit> visit = crew.visit(pace, race.iterations);
    one.receive(crew, *visit);
    const Mail& mail = race.mail;
    if (mail.received != mail.sent || mail.damaged != 0) {
        Record<"violation">(one.label(), round)
            .field("sent", mail.sent)
            .field("received", mail.received)
            .field("damaged", mail.damaged)
            .print();
        return false;
    }
    Record<"dsde">(one.label(), round)
        .field("iterations", visit->timing.timed)
        .field("elapsed_ns", visit->timing.elapsed_ns)
        .field("letters", mail.received)
        .print();
    return true;
}

int measure(Launch& launch, std::uint64_t iterations) {
    Race race{.job = *launch.peers, .seed = launch.options.seed, .iterations = iterations, .crowded = launch.crowded()};
    Roster roster = forms(race);
    if (!launch.keeps(roster)) return 0;
    launch.begin(shmem_versions());
    for (const Skipped& one : roster.skipped) print_skipped(one.name, one.why);
    ProcessCrew crew(launch);
    Rounds rounds(launch, crew);
    return rounds.run([&](std::uint32_t round) {
        rounds.shuffle(roster.candidates);
        for (const auto& one : roster.candidates)
            if (!visit(crew, *one, race, launch.pace, round)) return false;
        return true;
    });
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    std::uint64_t iterations = 1000;
    return run({.name = "tollbar-bench-dsde",
                .flags = {{"--iterations", "N", "of the exchange, timed together (default 1000)",
                           number(iterations, 1, 1'000'000)}},
                .measure = [&](Launch& launch) { return measure(launch, iterations); },
                .join = [] { return std::make_unique<PeJob>(); },
                .launcher = "oshrun"},
               count, words);
}
