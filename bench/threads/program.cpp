// SPDX-License-Identifier: Apache-2.0
// What all measuring programs do with their command line.
#include "cpus.hpp"
#include "environment.hpp"
#include "json.hpp"
#include "rounds.hpp"

#include <cstdio>
#include <exception>

namespace tollbar::bench {

void print_list(const Roster& roster) {
    for (const auto& one : roster.candidates) {
        const Label& label = one->label();
        Record("candidate")
            .field("name", label.name)
            .field("kind", label.kind)
            .field("wait", label.wait)
            .field("spins", label.manners == Manners::spins)
            .print();
    }
    for (const Skipped& one : roster.skipped) Record("skipped").field("name", one.name).field("why", one.why).print();
}

namespace {

int complain(const char* name, const char* what, int status) {
    std::fprintf(stderr, "%s: %s\n", name, what);
    return status;
}

/// Reads the command line and does what it asks for; one line on stderr for what cannot be. Gives the exit status.
template <class Do>
int obey(const char* name, int count, const char* const* words, Do&& act) {
    try {
        const Options options = parse_options(count, words);
        if (options.help) {
            std::fputs(usage(name).c_str(), stdout);
            return 0;
        }
        return act(options);
    } catch (const WrongUse& wrong) {
        return complain(name, wrong.what(), 2);
    } catch (const std::exception& error) {
        return complain(name, error.what(), 1);
    }
}

}  // namespace

int run_program(const char* name, int count, const char* const* words,
                const std::function<Roster(const Options&)>& prepare,
                const std::function<std::unique_ptr<Crew>(const Options&, const Places& places)>& hire) {
    return obey(name, count, words, [&](const Options& options) {
        Roster roster = prepare(options);
        if (options.list) {
            print_list(roster);
            return 0;
        }
        const std::vector<int> cpus = usable_cpus();
        const Pace pace = pace_for(options, cpus.size());
        print_environment(name, options, cpus, pace, roster.versions);
        const std::unique_ptr<Crew> crew = hire(options, Places(options.placement, cpus));
        return run_rounds(*crew, roster, options, cpus, pace) ? 0 : 1;
    });
}

int run_single(const char* name, int count, const char* const* words,
               const std::function<Round(const Options&, const std::vector<int>& cpus, const Pace& pace)>& prepare,
               const std::function<void(const Options&)>& check) {
    return obey(name, count, words, [&](const Options& options) {
        if (check)
            check(options);
        else if (options.list || options.depth == Depth::quick || !options.only.empty())
            throw WrongUse("--only, --list and --quick are for the other programs: this one measures one thing");
        const std::vector<int> cpus = usable_cpus();
        const Pace pace = pace_for(options, cpus.size());
        print_environment(name, options, cpus, pace, {});
        const Ticks began = ticks();
        const Round measure = prepare(options, cpus, pace);
        const auto spent_ns = [&] { return nanoseconds(ticks() - began); };
        std::uint32_t round = 0;
        for (; round < options.rounds && (options.budget_ns == 0 || round == 0 || spent_ns() < options.budget_ns);
             ++round)
            measure(round);
        Record("done").field("rounds", round).field("elapsed_ms", spent_ns() / 1e6).print();
        return 0;
    });
}

}  // namespace tollbar::bench
