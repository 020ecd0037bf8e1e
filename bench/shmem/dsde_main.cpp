// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-dsde: the dynamic sparse data exchange in all its forms, side by side. PE 0 prints.
#include "program.hpp"
#include "race.hpp"
#include "split.hpp"
#include "variants.hpp"

#include "json.hpp"
#include "selection.hpp"
#include "visit_records.hpp"

#include <algorithm>
#include <random>
#include <type_traits>

namespace tollbar::bench {

namespace {

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

/// One turn of each in an order drawn anew. False when letters were lost or damaged.
bool run_round(Crew& crew, Roster& roster, Race& race, const Pace& pace, std::uint32_t round, std::mt19937_64& random) {
    auto& order = roster.candidates;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (const auto& one : order) {
        const std::unique_ptr<Visit> visit = crew.visit(pace, race.iterations);
        one->receive(crew, *visit);
        const Mail& mail = race.mail;
        if (mail.received != mail.sent || mail.damaged != 0) {
            start_record("violation", one->label(), round)
                .field("sent", mail.sent)
                .field("received", mail.received)
                .field("damaged", mail.damaged)
                .print();
            return false;
        }
        start_record("dsde", one->label(), round)
            .field("iterations", visit->timing.timed)
            .field("elapsed_ns", visit->timing.elapsed_ns)
            .field("letters", mail.received)
            .print();
    }
    return true;
}

int measure(const ShmemProgram& program, std::uint64_t iterations) {
    const Options& options = program.options;
    Race race{.job = program.job, .seed = options.seed, .iterations = iterations, .crowded = program.crowded()};
    Roster roster = forms(race);
    if (!options.only.empty())
        select(roster, options.only, [](Roster&, const std::string&, const std::string&) { return false; });
    if (options.list) {
        print_list(roster);
        return 0;
    }
    const Pace pace = pace_for(options, program.cpus.size());
    print_environment(program.name, options, program.cpus, pace, ShmemProgram::versions());
    for (const Skipped& one : roster.skipped)
        Record("skipped").field("name", one.name).field("wait", "auto").field("why", one.why).print();
    Team alone;
    ProcessCrew crew(program.job, Places(options.placement, program.cpus), pace, program.crowded(), alone);

    std::mt19937_64 random(options.seed);
    const Ticks began = ticks();
    const auto spent_ns = [&] { return nanoseconds(ticks() - began); };
    std::uint32_t round = 0;
    double longest_ns = 0;
    while (round < options.rounds &&
           crew.agree(options.budget_ns == 0 || round == 0 || spent_ns() + longest_ns < options.budget_ns)) {
        const double before = spent_ns();
        if (!run_round(crew, roster, race, pace, round++, random)) return 1;
        longest_ns = std::max(longest_ns, spent_ns() - before);
    }
    Record("done").field("rounds", round).field("elapsed_ms", spent_ns() / 1e6).print();
    return 0;
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_shmem_program("tollbar-bench-dsde", count, words, {{"--iterations", 1000, 1, 1'000'000}},
                             [](const ShmemProgram& program) { return measure(program, program.numbers.at(0)); });
}
