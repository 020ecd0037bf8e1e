// SPDX-License-Identifier: Apache-2.0
// How many words and lines a plan takes, and who shares them.
#include "transports/words/layout.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

bool one_writer_each(const PlacedStep& step) { return step.kind == WordKind::signal || step.kind == WordKind::await; }

std::size_t words_met_at(const Layout& layout) {
    std::set<std::uint32_t> words;
    for (const PlacedStep& step : layout.steps)
        if (step.kind == WordKind::meet) words.insert(step.word);
    return words.size();
}

}  // namespace

TEST_CASE("a plan without roles becomes words of one writer each, the two of a pair in one line") {
    const Layout layout = lay_out(make_plan("dissemination", 5));
    CHECK(layout.first.size() == 6);
    CHECK(layout.steps.size() == 5 * 3 * 2);
    CHECK(std::ranges::all_of(layout.steps, one_writer_each));
    CHECK(lay_out(make_plan("central", 5)).lines == 4);
}

TEST_CASE("a turnstile is one word, whoever would play its role") {
    for (const Player player : {Player::last, Player::first}) {
        const Layout layout = lay_out(make_plan("turnstile", 5), player);
        CHECK(layout.steps.size() == 5 * 2);
        CHECK(layout.lines == 1);
        CHECK(layout.sleepers == 1);
        CHECK(std::ranges::all_of(layout.steps, [](const PlacedStep& step) { return step.word == 0; }));
    }
}

TEST_CASE("a combination meets at a word a processor that has several ranks") {
    CHECK(words_met_at(lay_out(make_plan("combination:2", 8))) == 2);
    CHECK(words_met_at(lay_out(make_plan("combination:3/pairwise", 8))) == 3);
    CHECK(words_met_at(lay_out(make_plan("combination:6", 8))) == 2);
}

TEST_CASE("where roles are processors, those who play them wait for other processors in a way of their own") {
    const Plan plan = make_plan("combination:2", 4);
    const auto apart = [](const Layout& layout) {
        return std::ranges::count_if(layout.steps, [](const PlacedStep& step) {
            return step.between_processors && step.kind == WordKind::await;
        });
    };
    CHECK(apart(lay_out(plan, Player::last, RolesAre::processors)) == 4);
    CHECK(apart(lay_out(plan, Player::last, RolesAre::groups)) == 0);
}

TEST_CASE("where the first plays a role, the others tell it at one word and hear from it at another") {
    const Layout layout = lay_out(make_plan("turnstile@3/dissemination", 6), Player::first);
    CHECK(words_met_at(layout) == 0);
    const auto kinds = [&](Rank rank) {
        std::vector<WordKind> found;
        for (std::uint32_t i = layout.first[rank]; i < layout.first[rank + 1]; ++i)
            found.push_back(layout.steps[i].kind);
        return found;
    };
    using enum WordKind;
    CHECK(kinds(0) == std::vector{await, signal, await, signal});
    CHECK(kinds(1) == std::vector{count, await});
}

TEST_CASE("no word is numbered twice, however many lines there are") {
    CHECK(Layout::word_in(0, 1) == 1);
    CHECK(Layout::word_in(Layout::most_lines - 1, 0) == (Layout::most_lines - 1) * std::uint64_t{Layout::words_a_line});
    CHECK_THROWS_AS(Layout::word_in(Layout::most_lines, 0), std::invalid_argument);
    CHECK_THROWS_AS(Layout::word_in(UINT32_MAX, 0), std::invalid_argument);
}
