// SPDX-License-Identifier: Apache-2.0
// The price against the stored table, and against the closed forms of Hoefler et al., "A practical approach to
// the rating of barrier algorithms using the LogP model and Open MPI".
#include <tollbar/algorithms.hpp>
#include <tollbar/models/logp.hpp>

#include "models/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace tollbar;

namespace {

constexpr LogP set_a{.L = 10, .o = 5, .g = 3};
constexpr LogP set_b{.L = 20, .o = 1, .g = 8};

struct Form {
    LogP logp;
    Rank ranks;

    double of(std::string_view algorithm, Rank parameter) const {
        return closed_form(algorithm, parameter, ranks, logp).value().full_us;
    }
    double central() const { return of("central", 0); }
    double dissemination() const { return of("dissemination", 1); }
    double tournament() const { return of("tournament", 0); }
    double combining(Rank n) const { return of("combining", n); }
};

std::vector<Rank> sizes() {
    std::vector<Rank> all;
    for (Rank ranks = 1; ranks <= 64; ++ranks) all.push_back(ranks);
    for (const Rank ranks : {100U, 128U, 256U, 512U, 1024U}) all.push_back(ranks);
    return all;
}

double last_us(const char* spelling, const Form& form) {
    return price(make_plan(spelling, form.ranks), form.logp).last_us;
}

/// The table's name for a plan, in tollbar's spelling.
const std::map<std::string, std::string> spellings{
    {"central", "central"},
    {"combining_n2", "combining:2"},
    {"combining_n3", "combining:3"},
    {"combining_n4", "combining:4"},
    {"combining_n8", "combining:8"},
    {"tournament", "tournament"},
    {"fway_tournament_f2", "fway_tournament:2"},
    {"fway_tournament_f3", "fway_tournament:3"},
    {"fway_tournament_f4", "fway_tournament:4"},
    {"fway_tournament_f8", "fway_tournament:8"},
    {"mcs_4_2", "mcs"},
    {"bst", "bst"},
    {"butterfly", "butterfly"},
    {"pairwise_exchange", "pairwise"},
    {"dissemination", "dissemination"},
    {"dissemination_2way", "dissemination:2"},
    {"dissemination_3way", "dissemination:3"},
    {"dissemination_4way", "dissemination:4"},
};

}  // namespace

TEST_CASE("every row of the stored table comes out equal") {
    const auto rows = golden::rows("logp_a_small.csv");
    CHECK(rows.size() == 1152);
    for (const auto& row : rows) {
        const LogP logp{.L = std::stod(row.at("L_us")), .o = std::stod(row.at("o_us")), .g = std::stod(row.at("g_us"))};
        const auto ranks = static_cast<Rank>(std::stoul(row.at("P")));
        const std::string& algorithm = row.at("algorithm");
        CAPTURE(algorithm);
        CAPTURE(ranks);
        const Price cost = price(make_plan(spellings.at(algorithm), ranks), logp);
        CHECK(cost.messages == std::stoull(row.at("messages")));
        CHECK(cost.last_us == std::stod(row.at("exact_last_us")));
        CHECK(cost.first_us == std::stod(row.at("exact_first_us")));
        CHECK(std::abs(cost.mean_us - std::stod(row.at("exact_mean_us"))) < 1e-4);
    }
}

TEST_CASE("in plan order every row costs what the table says or more, and as much where no set has two awaits") {
    const auto has_sets = [](const Plan& plan) {
        for (Rank rank = 0; rank < plan.ranks(); ++rank) {
            const Program program = plan.program(rank);
            const auto both = [](Step one, Step next) { return is_await(one) && is_await(next); };
            if (std::ranges::adjacent_find(program, both) != program.end()) return true;
        }
        return false;
    };
    std::size_t without_sets = 0;
    for (const auto& row : golden::rows("logp_a_small.csv")) {
        const Plan plan = make_plan(spellings.at(row.at("algorithm")), static_cast<Rank>(std::stoul(row.at("P"))));
        CAPTURE(row.at("algorithm"));
        CAPTURE(plan.ranks());
        const double last_us = price(plan, set_a, Receive::plan_order).last_us;
        CHECK(last_us >= std::stod(row.at("exact_last_us")));
        if (has_sets(plan)) continue;
        ++without_sets;
        CHECK(last_us == std::stod(row.at("exact_last_us")));
    }
    CHECK(without_sets > 64 + 64);  // the one-way exchanges
}

TEST_CASE("the closed forms are those of every row of the stored table, and missing where it has none") {
    struct Family {
        std::string_view algorithm;
        Rank parameter;
    };
    const std::map<std::string, Family> families{
        {"central", {"central", 0}},
        {"dissemination", {"dissemination", 1}},
        {"dissemination_2way", {"dissemination", 2}},
        {"dissemination_3way", {"dissemination", 3}},
        {"dissemination_4way", {"dissemination", 4}},
        {"tournament", {"tournament", 0}},
        {"combining_n2", {"combining", 2}},
        {"combining_n3", {"combining", 3}},
        {"combining_n4", {"combining", 4}},
        {"combining_n8", {"combining", 8}},
    };
    std::size_t with_form = 0;
    for (const auto& row : golden::rows("logp_a_small.csv")) {
        const std::string& name = row.at("algorithm");
        const auto ranks = static_cast<Rank>(std::stoul(row.at("P")));
        const auto known = families.find(name);
        const Family family = known == families.end() ? Family{spellings.at(name), 4} : known->second;
        const std::optional<ClosedForm> form = closed_form(family.algorithm, family.parameter, ranks, set_a);
        CAPTURE(name);
        CAPTURE(ranks);
        REQUIRE(form.has_value() == !row.at("closed_form_us").empty());
        if (!form) continue;
        ++with_form;
        CHECK(form->full_us == std::stod(row.at("closed_form_us")));
        CHECK(form->simplified_us == std::stod(row.at("simplified_us")));
    }
    CHECK(with_form == 7 * 64 + 11);  // at one rank all of them
}

TEST_CASE("a closed form refuses what it cannot be asked") {
    CHECK_THROWS_AS(closed_form("central", 0, 0, set_a), std::invalid_argument);
    CHECK_THROWS_AS(closed_form("combining", 1, 8, set_a), std::invalid_argument);
    CHECK_THROWS_AS(closed_form("central", 0, 8, {.L = -1, .o = 5, .g = 3}), std::invalid_argument);
    CHECK_FALSE(closed_form("mcs", 4, 8, set_a));
}

TEST_CASE("central and dissemination cost their closed forms at every size") {
    for (const LogP& logp : {set_a, set_b})
        for (const Rank ranks : sizes()) {
            const Form form{logp, ranks};
            CHECK(last_us("central", form) == form.central());
            CHECK(last_us("dissemination", form) == form.dissemination());
        }
}

TEST_CASE("the tournament and combining in groups of two cost their closed forms at powers of two only") {
    for (const LogP& logp : {set_a, set_b})
        for (const Rank ranks : sizes()) {
            const Form form{logp, ranks};
            CAPTURE(ranks);
            CHECK((last_us("tournament", form) == form.tournament()) == std::has_single_bit(ranks));
            CHECK((last_us("combining:2", form) == form.combining(2)) == std::has_single_bit(ranks));
        }
}

TEST_CASE("combining in groups of four costs its closed form at powers of four only, and never more") {
    for (const LogP& logp : {set_a, set_b})
        for (const Rank ranks : sizes()) {
            const Form form{logp, ranks};
            const bool power_of_four = std::has_single_bit(ranks) && std::countr_zero(ranks) % 2 == 0;
            CAPTURE(ranks);
            CHECK((last_us("combining:4", form) == form.combining(4)) == power_of_four);
            CHECK(last_us("combining:4", form) <= form.combining(4));
        }
}

TEST_CASE("nothing that tells one rank at a time is cheaper than dissemination, several ways are") {
    for (const LogP& logp : {set_a, set_b})
        for (const Rank ranks : sizes()) {
            const Form form{logp, ranks};
            for (const Algorithm& algorithm : catalogue())
                CHECK(last_us(std::string(algorithm.name).c_str(), form) >= form.dissemination());
        }
    CHECK(last_us("dissemination:3", {set_a, 64}) == 0.75 * last_us("dissemination", {set_a, 64}));
}

TEST_CASE("with two overheads the forms of central and dissemination are the price, those of trees are met at powers") {
    for (const LogP& logp : {LogP{10, 2, 3, 6}, LogP{10, 6, 3, 2}, LogP{20, 1, 8, 9}, LogP{0, 7, 1, 0}})
        for (Rank ranks = 2; ranks <= 64; ++ranks) {
            CAPTURE(ranks);
            const Form form{logp, ranks};
            CHECK(last_us("central", form) == form.central());
            CHECK(last_us("dissemination", form) == form.dissemination());
            CHECK(last_us("tournament", form) <= form.tournament());
            if (std::has_single_bit(ranks)) CHECK(last_us("tournament", form) == form.tournament());
        }
}

TEST_CASE("with two overheads the form of the central counter is that of section 4.1") {
    // 2 (o_s + L + o_r) + (P - 2) f_r + (P - 2) f_s
    CHECK(closed_form("central", 0, 10, {10, 2, 3, 6})->full_us == 2 * (2 + 10 + 6) + 8 * 6 + 8 * 3);
    CHECK(closed_form("central", 0, 10, {10, 2, 3, 6})->simplified_us == 2 * (10 + 10 * 4));  // o is the mean
    // (o_s + L + f_r (n - 2) + o_r) ceil(log_n P) + o_s + (ceil(log_2 P) - 1) t_s + L + o_r
    CHECK(closed_form("combining", 4, 16, {10, 2, 3, 6})->full_us == (18 + 6 * 2) * 2 + 18 + 3 * 18);
}
