// SPDX-License-Identifier: Apache-2.0
// Every row of seed002_*.csv.
#include "crowd.hpp"
#include "models/golden.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace crowd;

namespace {

using golden::number;
using golden::Row;

Application program(const Row& row) {
    const std::string& kind = row.at("kind");
    return blocking(kind == "central" ? "centralized" : kind, number(row, "W_over_c") * switch_us,
                    row.at("assign") == "block" ? Placement::block : Placement::cyclic,
                    row.at("yield") == "naive" ? Waiting::naive : Waiting::smart);
}

/// As far from the printed number as its two digits allow.
bool is(double value, const Row& row, const std::string& name) { return std::abs(value - number(row, name)) < 0.00501; }

}  // namespace

TEST_CASE("blocking barriers cost what the golden file says, 16 threads on 8 processors") {
    const std::vector<Row> rows = golden::rows("seed002_fig45.csv");
    CHECK(rows.size() == 84);
    for (const Row& row : rows) {
        const Outcome outcome = simulate(machine(8), {program(row)});
        const double t8 = outcome.applications[0].per_barrier_us();
        const double t16 = per_barrier_us(machine(16), program(row));
        const double b = 0.625 * switch_us;
        CAPTURE(row.at("kind"));
        CAPTURE(row.at("assign"));
        CAPTURE(row.at("yield"));
        CAPTURE(row.at("W_over_c"));
        CHECK(is(t8, row, "t8_us"));
        CHECK(is(t16, row, "t16_us"));
        CHECK(is(100 * (t8 / (2 * t16) - 1), row, "overhead_pct_b0"));
        CHECK(is(100 * ((t8 + b) / (2 * (t16 + b)) - 1), row, "overhead_pct_b0.625c"));
        CHECK(is(static_cast<double>(outcome.switches) / 60 / 8, row, "switches_per_barrier_per_proc"));
    }
}

TEST_CASE("blocking barriers cost what the golden file says, 16 threads on 1 to 16 processors") {
    const std::vector<Row> rows = golden::rows("seed002_fig6.csv");
    CHECK(rows.size() == 144);
    for (const Row& row : rows) {
        const auto processors = static_cast<std::uint32_t>(std::stoul(row.at("P")));
        const Application application = program(row);
        const Completion completion = simulate(machine(processors), {application}).applications[0];
        CAPTURE(row.at("kind"));
        CAPTURE(row.at("assign"));
        CAPTURE(row.at("W_over_c"));
        CAPTURE(processors);
        CHECK(completion.most_threads == number(row, "ceil_T_over_P"));
        CHECK(is(completion.per_barrier_us(), row, "us_per_barrier"));
        CHECK(is(completion.per_barrier_us() / application.compute_us, row, "us_over_W"));
    }
}

TEST_CASE("500 centralized spinning barriers take the quanta that the golden file says") {
    const std::vector<Row> rows = golden::rows("seed002_recurrence.csv");
    CHECK(rows.size() == 10);
    for (const Row& row : rows) {
        Application application = spinning("centralized", 10000);
        application.placement = Placement::block;
        Machine crowded = free_switches(15);
        crowded.quantum_us = number(row, "Q_over_T") * 10000;
        const double quanta = simulate(crowded, {application}).completed_us / crowded.quantum_us;
        CAPTURE(row.at("Q_over_T"));
        CHECK(std::abs(quanta - number(row, "sim_central_quanta_for_500")) < 0.000501);
    }
}
