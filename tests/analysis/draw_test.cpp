// SPDX-License-Identifier: Apache-2.0
#include "analysis/draw.hpp"

#include <tollbar/algorithms.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

constexpr LogP set_a{.L = 10, .o = 5, .g = 3};

std::size_t count(std::string_view text, std::string_view words) {
    std::size_t times = 0;
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + words.size())) ++times;
    return times;
}

/// Whether every element that is opened is closed, in order, and no text breaks out of its element.
bool well_formed(std::string_view svg) {
    std::vector<std::string> open;
    for (std::size_t at = svg.find('<'); at != svg.npos; at = svg.find('<', at)) {
        const std::size_t end = svg.find('>', at);
        if (end == svg.npos) return false;
        const std::string_view tag = svg.substr(at + 1, end - at - 1);
        if (count(tag, "\"") % 2 != 0) return false;
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) return false;
            open.pop_back();
        } else if (!tag.ends_with('/')) {
            open.emplace_back(tag.substr(0, tag.find_first_of(" \n")));
        }
        at = end;
    }
    return open.empty();
}

}  // namespace

TEST_CASE("a drawing has one lane and one time of completion a rank, and one titled arrow a message") {
    for (const Algorithm& algorithm : catalogue())
        for (const Rank ranks : {1U, 2U, 7U, 20U}) {
            const Plan plan = make_plan(algorithm.name, ranks);
            const std::string svg = draw_svg(plan, set_a);
            CHECK(well_formed(svg));
            CHECK(count(svg, "class=\"badge\"") == ranks);
            CHECK(count(svg, "class=\"badge role\"") == plan.roles());
            CHECK(count(svg, "class=\"lane played\"") == plan.roles());
            CHECK(count(svg, "class=\"done\"") == ranks);
            const auto messages = price_messages(plan, set_a);
            CHECK(count(svg, "marker-end=") == messages.size());
            CHECK(count(svg, "<g class=\"message\"><title>") == messages.size());
        }
}

TEST_CASE("an arrow says who told whom, and when") {
    const std::string svg = draw_svg(make_plan("dissemination", 4), set_a);
    CHECK(count(svg, "<title>1 -&gt; 2, sent 0, received 20 us</title>") == 1);
    CHECK(count(svg, "<title>1 -&gt; 3, sent 20, received 40 us</title>") == 1);
    CHECK(count(svg, "<title>dissemination, 4 ranks: 40 us</title>") == 1);
}

TEST_CASE("a role's lane bears its letter, stands behind the ranks' and ends with its last message") {
    const std::string svg = draw_svg(make_plan("turnstile", 3), set_a);
    CHECK(count(svg, "<title>turnstile, 3 ranks, 1 role: 50 us</title>") == 1);
    CHECK(count(svg, ">a</text>") == 1);
    CHECK(count(svg, "<title>a -&gt; 2, sent 30, received 50 us</title>") == 1);
    CHECK(count(svg, "<title>2 -&gt; a, sent 0, received 30 us</title>") == 1);
    CHECK(svg.find("class=\"badge role\"") > svg.rfind("class=\"badge\""));
    CHECK(count(draw_svg(make_plan("combination:2", 4), set_a), ">b</text>") == 1);
    CHECK(count(draw_svg(make_plan("mcs", 4), set_a), ".played") == 0);
}

TEST_CASE("the drawing of a turnstile for 4 ranks is the stored one") {
    std::ifstream file(TOLLBAR_TESTS_DIR "/golden/turnstile_4_ranks.svg");
    REQUIRE(file);
    std::ostringstream stored;
    stored << file.rdbuf();
    CHECK(draw_svg(make_plan("turnstile", 4), set_a) == stored.str());
}

TEST_CASE("the drawing of mcs for 4 ranks is the stored one") {
    std::ifstream file(TOLLBAR_TESTS_DIR "/golden/mcs_4_ranks.svg");
    REQUIRE(file);
    std::ostringstream stored;
    stored << file.rdbuf();
    CHECK(draw_svg(make_plan("mcs", 4), set_a) == stored.str());
}

TEST_CASE("a drawing has colours for light and for dark surroundings, and needs nothing from elsewhere") {
    const std::string svg = draw_svg(make_plan("bst", 5), set_a);
    CHECK(count(svg, "@media (prefers-color-scheme: dark)") == 1);
    CHECK(count(svg, "http") == 1);  // the name space
    CHECK(count(svg, "href") == 0);
}

TEST_CASE("a name that looks like markup is written as text") {
    const std::string svg = draw_svg(parse_plan("<b> & \"c\"", "0:"), set_a);
    CHECK(well_formed(svg));
    CHECK(count(svg, "&lt;b&gt; &amp; &quot;c&quot;, 1 rank: 0 us") == 2);
}

TEST_CASE("times are written without spare digits") {
    const std::string svg = draw_svg(make_plan("dissemination", 2), {.L = 0.5, .o = 0.25, .g = 0});
    CHECK(count(svg, "sent 0, received 1 us") == 2);
    CHECK(count(draw_svg(make_plan("central", 2), {.L = 0.125, .o = 0, .g = 0}), "sent 0.125, received 0.25 us") == 1);
}

TEST_CASE("a price of nothing is drawn too") {
    CHECK(well_formed(draw_svg(make_plan("mcs", 9), {.L = 0, .o = 0, .g = 0})));
}

TEST_CASE("a long episode is drawn no taller than a short one of many hops") {
    const std::string svg = draw_svg(make_plan("central", 300), set_a);
    const double height = std::stod(svg.substr(svg.find("height=\"") + 8));
    CHECK(height < 2100);
    CHECK(height > 1800);
}

TEST_CASE("what has no price has no drawing") {
    CHECK(refusal([] { (void)draw_svg(parse_plan("mine", "0: ?1\n1:"), set_a); }) ==
          "plan 'mine' has no price: rank 0 awaits rank 1, which never signals it");
}
