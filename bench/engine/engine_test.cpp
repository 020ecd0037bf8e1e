// SPDX-License-Identifier: Apache-2.0
// Tests of the measuring engine: what it says of stamps, what --only keeps, and that all ranks agree when to stop.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "launch.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace tollbar::bench {
namespace {

struct Nothing {
    explicit Nothing(Rank) {}
    void episode() {}
};

Roster roster_of(std::initializer_list<Label> labels) {
    Roster roster;
    for (const Label& label : labels) roster.add<Everywhere<Nothing>>(label, Rank{2});
    return roster;
}

std::string names(const Roster& roster) {
    std::string all;
    for (const auto& one : roster.candidates) all += one->label().name + "+" + one->label().wait + " ";
    return all;
}

const Places anywhere(Placement::free, usable_cpus());

TEST_CASE("latency runs from the last entry, skew from the first exit, span from the first entry, to the last exit") {
    Stamps stamps(3, 1);
    const Ticks unit = ticks_of(1e6);
    *stamps.row(0) = {10 * unit, 40 * unit};
    *stamps.row(1) = {20 * unit, 35 * unit};
    *stamps.row(2) = {15 * unit, 50 * unit};
    const Samples samples = stamps.evaluate(1);
    CHECK(!samples.violation);
    CHECK(std::round(samples.latency.at(0) / 1e6) == 30);
    CHECK(std::round(samples.skew.at(0) / 1e6) == 15);
    CHECK(std::round(samples.span.at(0) / 1e6) == 40);
    CHECK(std::round(samples.inside / 1e6) == 27);
}

TEST_CASE("a period runs from one last entry to the next, whoever leaves first") {
    Stamps stamps(2, 3);
    const Ticks unit = ticks_of(1e6);
    for (const Rank rank : {0U, 1U})
        for (Ticks episode = 0; episode < 3; ++episode)
            stamps.row(rank)[episode] = {(20 * episode + rank) * unit,
                                         (20 * episode + 2 + 9 * (rank ^ episode % 2)) * unit};
    const std::vector<double> period = stamps.evaluate(3).period;
    REQUIRE(period.size() == 2);
    for (const double each : period) CHECK(each == doctest::Approx(20e6));
}

TEST_CASE("each rank has a mean time in its calls, and what it does between them can be replayed") {
    Stamps stamps(2, 3);
    const Ticks unit = 1000;
    for (Rank rank = 0; rank < 2; ++rank)
        for (Ticks episode = 0; episode < 3; ++episode) {
            const Ticks exit = (10 * episode + 9) * unit;
            stamps.row(rank)[episode] = {exit - (rank + 1 + episode) * unit, exit};
        }
    const double unit_us = nanoseconds(unit) / 1e3;
    const Samples samples = stamps.evaluate(3);
    CHECK(samples.inside_each[0] == doctest::Approx(2 * unit_us * 1e3));  // of 1, 2 and 3
    CHECK(samples.inside_each[1] == doctest::Approx(3 * unit_us * 1e3));
    CHECK(samples.inside == doctest::Approx(2.5 * unit_us * 1e3));

    const std::string file = "engine_test_profile.csv";
    stamps.write_profile(3, file);
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    CHECK(line == "thread,event,value");
    for (const double units : {8.0, 7.0, 7.0, 6.0}) {  // from one exit to the next, 10, less the time inside
        std::getline(in, line);
        CHECK(line.substr(1, 9) == ",compute,");
        CHECK(std::stod(line.substr(10)) == doctest::Approx(units * unit_us).epsilon(1e-4));
        std::getline(in, line);
        CHECK(line.substr(1) == ",barrier,");
    }
    CHECK(!std::getline(in, line));
    std::remove(file.c_str());
    CHECK_THROWS(stamps.write_profile(3, "/nonexistent/profile.csv"));
}

TEST_CASE("--episodes gives every barrier so many stamped episodes, however long they take") {
    const char* const words[] = {"program", "--episodes", "100000"};
    const Options options = parse_options(3, words);
    CHECK(pace_for(options, 64).stamped == 100000);
    CHECK(pace_for(options, 64).cut_ns > 1e15);
    CHECK(pace_for(Options{}, 64).stamped == 200);
}

TEST_CASE("an exit before the last entry is a violation that names both ranks") {
    Stamps stamps(3, 2);
    for (Rank rank = 0; rank < 3; ++rank) stamps.row(rank)[0] = {10, 20};
    stamps.row(0)[1] = {30, 60 + apart()};
    stamps.row(1)[1] = {31, 39};
    stamps.row(2)[1] = {40 + apart(), 61 + apart()};
    const Samples samples = stamps.evaluate(2);
    REQUIRE(samples.violation);
    CHECK(samples.violation->episode == 1);
    CHECK(samples.violation->left == 1);
    CHECK(samples.violation->missing == 2);
}

TEST_CASE("stamps that the clock cannot tell apart accuse nobody") {
    // As of two hyperthreads of a CPU whose counter moves by 10 ns: "left 0.4 ns early".
    CHECK(apart() > 0);
    CHECK(nanoseconds(apart()) < 1000);
    Stamps stamps(2, 1);
    stamps.row(0)[0] = {100, 200};
    stamps.row(1)[0] = {200 + apart(), 300 + apart()};
    CHECK(!stamps.evaluate(1).violation);
    stamps.row(1)[0].entry += 1;
    CHECK(stamps.evaluate(1).violation);
}

TEST_CASE("a barrier that does nothing is found out") {
    // Rank 1 enters when rank 0 has left: a meeting orders them, no delay does.
    Meeting meeting(2);
    Stamps stamps(2, 1);
    ThreadCrew crew(2, anywhere);
    crew.run([&](Rank rank) {
        if (rank == 1) meeting.meet();
        for (const Ticks met = ticks(); rank == 1 && ticks() - met <= apart();) {
        }
        const Ticks entry = ticks();
        *stamps.row(rank) = {entry, ticks()};
        if (rank == 0) meeting.meet();
    });
    REQUIRE(stamps.evaluate(1).violation);
    CHECK(stamps.evaluate(1).violation->missing == 1);
}

TEST_CASE("all ranks run the same number of episodes when a loop is cut short") {
    for (const Rank ranks : {2U, 3U, 5U}) {
        ThreadCrew crew(ranks, anywhere);
        Meeting barrier(ranks);
        StopFlags flags;
        std::vector<std::uint64_t> done(ranks);
        const auto episode = [&](std::uint64_t) { barrier.episode(); };
        crew.run([&](Rank rank) { done[rank] = run_chunks(rank, {1'000'000'000, 3, 1}, 1e6, flags, episode); });
        CHECK(done[0] < 1'000'000'000);
        CHECK(done[0] % 3 == 0);
        for (Rank rank = 1; rank < ranks; ++rank) CHECK(done[rank] == done[0]);
    }
}

TEST_CASE("a loop that is not cut short runs every episode once") {
    StopFlags flags;
    std::uint64_t sum = 0;
    CHECK(run_chunks(0, {100, 1, 2}, 1e12, flags, [&](std::uint64_t i) { sum += i; }) == 100);
    CHECK(sum == 99 * 100 / 2);
}

TEST_CASE("whoever computes has computed at least as long as it was asked to") {
    for (const double us : {0.0, 1.5, 300.0}) {
        const Ticks start = ticks();
        compute(us);
        CHECK(nanoseconds(ticks() - start) >= us * 1e3 * 0.999);
    }
}

TEST_CASE("whoever is away comes back no earlier than it was asked to, and leaves its CPU to others") {
    for (const double us : {0.0, 1.5, 300.0, 20000.0}) {
        const double used = Usage::of_process().cpu_ns;
        const Ticks start = ticks();
        be_away(us);
        CHECK(nanoseconds(ticks() - start) >= us * 1e3 * 0.999);
        if (us > 1000) CHECK(Usage::of_process().cpu_ns - used < us * 1e3 / 2);
    }
}

TEST_CASE("a run of a workload is all phases, each with an episode, on every rank") {
    const Workload work{.compute_us = {1, 2, 3}, .runs = 5};
    ThreadCrew crew(3, anywhere);
    Options options;
    options.ranks = 3;
    const std::unique_ptr<Visit> visit = crew.visit(pace_for(options, 3), work.runs);
    Meeting barrier(3);
    std::vector<std::uint64_t> episodes(3);
    struct Counting {
        Meeting& barrier;
        std::uint64_t& episodes;
        void episode() {
            ++episodes;
            barrier.episode();
        }
    };
    crew.run([&](Rank rank) {
        Counting seat{barrier, episodes[rank]};
        attend_working(rank, seat, *visit, work);
    });
    // Once to warm up, and one episode more at the end.
    for (const std::uint64_t each : episodes) CHECK(each == (1 + visit->timing.timed) * 3 + 1);
    CHECK(visit->timing.elapsed_ns >= static_cast<double>(visit->timing.timed) * 6e3 * 0.999);
    CHECK((visit->timing.cut || visit->timing.timed == 5));
}

TEST_CASE("--workload refuses what is no workload") {
    const char* const words[] = {"program", "--workload", "64~0.2,360us"};
    CHECK(parse_options(3, words).work.size() == 2);
    for (const char* list : {"", "64,", "quick", "64~2"}) {
        const char* const wrong[] = {"program", "--workload", list};
        CHECK_THROWS_AS(parse_options(3, wrong), WrongUse);
    }
}

TEST_CASE("--runs says how many runs of a workload are made") {
    const char* const words[] = {"program", "--workload", "64", "--runs", "10000"};
    CHECK(parse_options(5, words).runs == 10000);
    CHECK(parse_options(3, words).runs == 0);
    const char* const wrong[] = {"program", "--runs", "0"};
    CHECK_THROWS_AS(parse_options(3, wrong), WrongUse);
}

TEST_CASE("a field of a record holds values of its type in the schema and no others") {
    CHECK(holds<std::uint64_t>("int?"));
    CHECK(holds<std::uint64_t>("int+"));
    CHECK(!holds<double>("int"));
    CHECK(holds<double>("float|null?"));
    CHECK(holds<std::optional<double>>("float|null?"));
    CHECK(!holds<std::optional<double>>("float?"));
    CHECK(holds<const char*>("str"));
    CHECK(holds<std::vector<double>>("floats?"));
    CHECK(!holds<bool>("int"));
}

TEST_CASE("--only knows names with commas in them") {
    Roster roster = roster_of({{"mcs", "plan"}, {"mcs:2,2", "plan"}, {"central", "plan"}, {"bst", "plan"}});
    select(roster, "mcs:2,2,central", nothing_more);
    CHECK(names(roster) == "mcs:2,2+auto central+auto ");
}

TEST_CASE("--only keeps all waiting policies of a name, or the one asked for") {
    const std::initializer_list<Label> labels{
        {"mcs", "plan", "auto"}, {"mcs", "plan", "spin"}, {"bst", "plan", "auto"}};
    Roster all = roster_of(labels);
    select(all, "mcs", nothing_more);
    CHECK(names(all) == "mcs+auto mcs+spin ");
    Roster one = roster_of(labels);
    select(one, "mcs+spin", nothing_more);
    CHECK(names(one) == "mcs+spin ");
}

TEST_CASE("--only refuses a name nobody knows") {
    for (const char* list : {"no", "mcs,no", ",", "mcs,,bst", "mcs+often"}) {
        Roster roster = roster_of({{"mcs", "plan"}, {"bst", "plan"}});
        CHECK_THROWS_AS(select(roster, list, nothing_more), WrongUse);
    }
}

TEST_CASE("wrong flags and values are refused") {
    for (const auto& words : std::vector<std::vector<const char*>>{{"--ranks", "1"},
                                                                   {"--ranks", "1025"},
                                                                   {"--ranks", "2x"},
                                                                   {"--ranks"},
                                                                   {"--placement", "there"},
                                                                   {"--no"}}) {
        std::vector<const char*> line{"program"};
        line.insert(line.end(), words.begin(), words.end());
        CHECK_THROWS_AS(parse_options(static_cast<int>(line.size()), line.data()), WrongUse);
    }
}

}  // namespace
}  // namespace tollbar::bench
