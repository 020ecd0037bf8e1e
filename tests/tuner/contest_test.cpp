// SPDX-License-Identifier: Apache-2.0
// The umpire keeps the budget, prefers the model in a tie, and finds what is clearly faster. Times are made up here:
// what the tests check is arithmetic.
#include "tuner/contest.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// What a rank would measure of a candidate in a round.
using Nature = std::function<double(std::size_t candidate, std::size_t rank)>;

struct Outcome {
    std::size_t winner;
    double spent_us;
    std::vector<Batch> batches;
    double median_us;
};

/// Runs a whole contest on a clock that advances as the made-up times say.
Outcome run(std::size_t candidates, double budget_us, std::string_view objective, std::size_t ranks,
            const Nature& nature) {
    Contest contest(candidates, budget_us, objective);
    double clock_us = 0;
    std::vector<Batch> batches;
    for (;;) {
        const Batch batch = contest.next(clock_us, ranks);
        if (batch.winner >= 0) {
            const auto winner = static_cast<std::size_t>(batch.winner);
            return {winner, clock_us, batches, contest.median_us(winner)};
        }
        batches.push_back(batch);
        std::vector<double> samples(ranks * batch.runs());
        std::size_t run = 0;
        for (std::uint32_t round = 0; round < batch.rounds; ++round)
            for (const std::size_t candidate : batch.turns(round)) {
                for (std::size_t rank = 0; rank < ranks; ++rank)
                    samples[rank * batch.runs() + run] = nature(candidate, rank);
                clock_us += samples[run] * (batch.episodes + 1);
                ++run;
            }
        contest.record(batch, samples, ranks);
    }
}

Nature steady(std::vector<double> times) {
    return [times](std::size_t candidate, std::size_t) { return times[candidate]; };
}

}  // namespace

TEST_CASE("what is clearly faster wins, wherever the model has it") {
    CHECK(run(3, 20000, "latency", 4, steady({10, 5, 20})).winner == 1);
    CHECK(run(3, 20000, "latency", 4, steady({10, 9, 8})).winner == 2);
    CHECK(run(3, 20000, "latency", 4, steady({5, 9, 8})).winner == 0);
}

TEST_CASE("a tie keeps the candidate the model favours") {
    CHECK(run(2, 20000, "latency", 4, steady({10.4, 10})).winner == 0);
    CHECK(run(3, 20000, "latency", 4, steady({20, 10.4, 10})).winner == 1);
    CHECK(run(2, 20000, "latency", 4, steady({10.8, 10})).winner == 1);  // 8 % that are certain are no tie
}

TEST_CASE("noise of 30 % seldom costs more than 10 %") {
    std::mt19937 generator(1);
    std::lognormal_distribution<double> noise(0, 0.3);
    int bad = 0;
    for (int repetition = 0; repetition < 200; ++repetition) {
        const std::vector<double> truth{10, 9.5, 12, 11, 30};
        const auto nature = [&](std::size_t candidate, std::size_t) { return truth[candidate] * noise(generator); };
        if (truth[run(truth.size(), 20000, "latency", 2, nature).winner] > 1.1 * 9.5) ++bad;
    }
    CHECK(bad <= 10);
}

TEST_CASE("a few rounds that contradict each other do not overrule the model") {
    int looks = 0;  // 9000, 9000, then 3000 us against a steady 5000
    const auto nature = [&](std::size_t candidate, std::size_t) {
        if (candidate == 1) return 5000.0;
        return ++looks < 3 ? 9000.0 : 3000.0;
    };
    CHECK(run(2, 1000, "latency", 1, nature).winner == 0);
}

TEST_CASE("one slow look does not cost a candidate the contest") {
    int looks = 0;
    const auto nature = [&](std::size_t candidate, std::size_t rank) {
        if (candidate == 1 && rank == 0 && ++looks == 1) return 1e3;
        return candidate == 1 ? 5.0 : 10.0;
    };
    CHECK(run(2, 20000, "latency", 2, nature).winner == 1);
}

TEST_CASE("the slowest rank decides on latency, the mean on waiting, first to last on skew") {
    // Candidate 0: one rank is late. Candidate 1: all are alike.
    const auto nature = [](std::size_t candidate, std::size_t rank) {
        if (candidate == 1) return 10.0;
        return rank == 3 ? 20.0 : 4.0;
    };
    const Outcome latency = run(2, 20000, "latency", 4, nature);
    CHECK(latency.winner == 1);
    CHECK(latency.median_us == 10);
    const Outcome wait = run(2, 20000, "wait", 4, nature);
    CHECK(wait.winner == 0);
    CHECK(wait.median_us == 8);
    const Outcome skew = run(2, 20000, "skew", 4, nature);
    CHECK(skew.winner == 1);
    CHECK(skew.median_us == 0);
}

TEST_CASE("the budget is kept where it allows one look at each") {
    for (const double budget : {1000.0, 20000.0, 2e6}) {
        const Outcome outcome = run(3, budget, "latency", 4, steady({10, 10.5, 10.7}));
        CHECK(outcome.spent_us <= budget);
        CHECK(outcome.batches.size() > 1);
    }
}

TEST_CASE("where one look takes the whole budget it is the only one") {
    const Outcome outcome = run(3, 1000, "latency", 16, steady({5000, 9000, 4000}));
    CHECK(outcome.batches.size() == 1);
    CHECK(outcome.winner == 2);
}

TEST_CASE("what is decided is not measured on") { CHECK(run(2, 2e6, "latency", 4, steady({5, 50})).spent_us < 2000); }

TEST_CASE("without a budget, or without a rival, the model's choice is taken unseen") {
    CHECK(run(3, 0, "latency", 4, steady({10, 5, 20})).batches.empty());
    CHECK(run(3, 0, "latency", 4, steady({10, 5, 20})).winner == 0);
    CHECK(run(1, 20000, "latency", 4, steady({10})).batches.empty());
}

TEST_CASE("the hopeless are left out after the first look") {
    const Outcome outcome = run(3, 20000, "latency", 4, steady({10, 100, 10.8}));
    REQUIRE(outcome.batches.size() > 1);
    CHECK(outcome.batches[0].entered == 0b111);
    CHECK(outcome.batches[1].entered == 0b101);
}

TEST_CASE("short episodes are timed many at a time, leaving one at a time") {
    CHECK(run(2, 20000, "latency", 2, steady({0.05, 0.05})).batches.at(1).episodes >= 100);
    CHECK(run(2, 20000, "skew", 2, steady({0.05, 0.05})).batches.at(1).episodes == 1);
}

TEST_CASE("every candidate opens a round in its turn") {
    const Batch batch{.entered = 0b1011, .rounds = 3, .episodes = 1};
    CHECK(batch.turns(0) == std::vector<std::size_t>{0, 1, 3});
    CHECK(batch.turns(1) == std::vector<std::size_t>{1, 3, 0});
    CHECK(batch.turns(2) == std::vector<std::size_t>{3, 0, 1});
    CHECK(batch.runs() == 9);
}
