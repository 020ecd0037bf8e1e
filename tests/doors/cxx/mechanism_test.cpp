// SPDX-License-Identifier: Apache-2.0
// The spellings a group takes, and what is said about the others.
#include "doors/cxx/mechanism.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace tollbar;

namespace {

std::string objection(std::string_view spelling, Rank ranks, std::uint32_t cpus = 4) {
    try {
        lay_out_spelled(spelling, ranks, cpus);
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

/// How many processors the ranks of a combination meet on: words that are met at.
std::size_t processors(const Layout& layout) {
    std::vector<std::uint32_t> words;
    for (const PlacedStep& step : layout.steps)
        if (step.deed == Deed::meet) words.push_back(step.word);
    std::ranges::sort(words);
    return static_cast<std::size_t>(std::unique(words.begin(), words.end()) - words.begin());
}

}  // namespace

TEST_CASE("a catalogue spelling becomes words of one writer each") {
    const Layout layout = lay_out_spelled("dissemination", 5, 1);
    CHECK(layout.first.size() == 6);
    CHECK(layout.steps.size() == 5 * 3 * 2);
    CHECK(std::ranges::all_of(
        layout.steps, [](const PlacedStep& step) { return step.deed == Deed::signal || step.deed == Deed::await; }));
}

TEST_CASE("a turnstile is one word") {
    const Layout layout = lay_out_spelled("turnstile", 5, 1);
    CHECK(layout.steps.size() == 5 * 2);
    CHECK(std::ranges::all_of(layout.steps, [](const PlacedStep& step) { return step.word == 0; }));
}

TEST_CASE("a combination has as many processors as it says, else as there are CPUs, at most one a rank") {
    CHECK(processors(lay_out_spelled("combination:2", 8, 4)) == 2);
    CHECK(processors(lay_out_spelled("combination:3/central", 8, 4)) == 3);
    CHECK(processors(lay_out_spelled("combination", 8, 4)) == 4);
    CHECK(lay_out_spelled("combination", 3, 64).first.size() == 4);
}

TEST_CASE("a combination that is spelled wrongly is refused with the spelling that is accepted") {
    for (const char* spelling : {"combination:0", "combination:x", "combination:", "combination:-1", "combination: 2",
                                 "combination:/central", "combination:2x/central", "combination:99999999999"}) {
        CAPTURE(spelling);
        CHECK(objection(spelling, 8) ==
              "plan '" + std::string(spelling) + "': expected combination[:PROCESSORS[/PLAN]]");
    }
    CHECK(objection("combination:9", 8) == "a combination barrier of 8 ranks has 1 to 8 processors, not 9");
    CHECK(objection("combination:2/", 8) != "");
    CHECK(objection("combination:2/fastest", 8).find("fastest") != std::string::npos);
    CHECK(objection("combinations", 8).find("combinations") != std::string::npos);
}

TEST_CASE("ranks out of range are refused whatever the spelling") {
    for (const char* spelling : {"turnstile", "combination", "combination:1", "mcs", "nonsense"}) {
        CHECK(objection(spelling, 0) == "a group has 1 to 16777216 ranks, not 0");
        CHECK(objection(spelling, max_ranks + 1) == "a group has 1 to 16777216 ranks, not 16777217");
    }
}
