// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-udp: barriers between hosts by datagrams, side by side; 10,000 consecutive ones in a batch.
#include "candidates.hpp"
#include "cards.hpp"
#include "environment.hpp"
#include "network.hpp"
#include "rounds.hpp"
#include "selection.hpp"

#include "mpi/flags.hpp"

#include <cstdio>

namespace tollbar::bench {

namespace {

constexpr const char* program = "tollbar-bench-udp";

/// As many as in the paper: Buntinas, Panda and Sadayappan, "Performance Benefits of NIC-Based Barrier on Myrinet/GM".
constexpr std::uint64_t consecutive = 10000;

int measure(const std::string& hosts, const std::string& cards, const Options& options) {
    const auto network = std::make_shared<const Network>(hosts, options.ranks);
    Roster roster;
    add_udp(roster, options.ranks, network);
    if (!cards.empty()) add_cards(roster, options.ranks, network);
    if (!options.only.empty())
        select(roster, options.only, [&](Roster& to, const std::string& name, const std::string& wait) {
            return add_udp_plan(to, options.ranks, network, name, wait);
        });
    if (options.list) {
        print_list(roster);
        return 0;
    }
    roster.versions = {{"network", network->kind()}};
    const std::vector<int> cpus = usable_cpus();
    Pace pace = pace_for(options, cpus.size());
    pace.most = consecutive;
    print_environment(program, options, cpus, pace, roster.versions);
    ThreadCrew crew(options.ranks, Places(options.placement, cpus));
    return run_rounds(crew, roster, options, cpus, pace) ? 0 : 1;
}

int run(int count, char** words) {
    try {
        std::vector<const char*> left(words, words + count);
        const std::string hosts = take_value(left, "--hosts");
        const std::string cards = take_value(left, "--cards");
        const Options options = parse_options(static_cast<int>(left.size()), left.data());
        if (options.help) {
            std::fputs((usage(program) +
                        "and\n  --hosts NAME=ADDRESS,...  network namespaces, one a rank (default: the loopback)\n"
                        "  --cards yes               also barriers that the hosts' cards run, card:PLAN\n")
                           .c_str(),
                       stdout);
            return 0;
        }
        return measure(hosts, cards, options);
    } catch (const WrongUse& wrong) {
        std::fprintf(stderr, "%s: %s\n", program, wrong.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 1;
    }
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) { return tollbar::bench::run(count, words); }
