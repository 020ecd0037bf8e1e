// SPDX-License-Identifier: Apache-2.0
// Drop a message, and the verifier must object: no plan carries a signal for nothing, but for two families.
#include <tollbar/algorithms.hpp>
#include <tollbar/verify.hpp>

#include "spellings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace tollbar;

namespace {

/// The words of a plan, which can be changed.
struct Words {
    std::vector<Program> of_ranks, of_roles;

    Program& of(Rank member) { return is_role(member) ? of_roles[role_number(member)] : of_ranks[member]; }
};

Words written_out(const Plan& plan) {
    Words words;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) words.of_ranks.push_back(plan.program(rank));
    for (Rank number = 0; number < plan.roles(); ++number) words.of_roles.push_back(plan.program(role(number)));
    return words;
}

using Channel = std::pair<Rank, Rank>;

std::vector<Channel> channels(const Plan& plan) {
    std::vector<Channel> all;
    for (Rank index = 0; index < plan.members(); ++index)
        for (const Step step : plan.program(plan.member_at(index)))
            if (is_signal(step)) all.emplace_back(plan.member_at(index), step.peer);
    return all;
}

/// Whether the plan still holds without that channel, signal and await both taken out.
bool spare(Words words, Channel channel) {
    CHECK(std::erase(words.of(channel.first), signal(channel.second)) == 1);
    CHECK(std::erase(words.of(channel.second), await(channel.first)) == 1);
    return verify(Plan("one dropped", std::move(words.of_ranks), std::move(words.of_roles))).holds();
}

std::vector<Channel> spare_messages(const std::string& spelling, Rank ranks) {
    const Plan plan = make_plan(spelling, ranks);
    const Words words = written_out(plan);
    std::vector<Channel> all = channels(plan);
    std::erase_if(all, [&](Channel channel) { return !spare(words, channel); });
    return all;
}

/// "butterfly, 6 ranks: 2>0 3>1\n", or nothing when no message is spare.
std::string butterfly_line(Rank ranks) {
    std::string line;
    for (const auto& [from, to] : spare_messages("butterfly", ranks))
        line += ' ' + std::to_string(from) + '>' + std::to_string(to);
    return line.empty() ? line : "butterfly, " + std::to_string(ranks) + " ranks:" + line + '\n';
}

/// "dissemination:2, 4 ranks: +1\n": each rank's message to the rank 1 further is spare. All ranks are alike.
std::string dissemination_line(Rank ways, Rank ranks) {
    const std::string spelling = "dissemination:" + std::to_string(ways);
    std::map<Rank, Rank> spare_at;  // distance -> how many ranks
    for (const auto& [from, to] : spare_messages(spelling, ranks)) ++spare_at[(to + ranks - from) % ranks];
    std::string line;
    for (const auto& [distance, times] : spare_at) {
        CHECK(times == ranks);
        line += " +" + std::to_string(distance);
    }
    return line.empty() ? line : spelling + ", " + std::to_string(ranks) + " ranks:" + line + '\n';
}

std::string golden(const std::string& name) {
    std::ifstream file(TOLLBAR_TESTS_DIR "/golden/" + name);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The families with spare messages at some sizes; every other plan must have none.
bool may_have_spare_messages(const std::string& spelling) {
    return spelling.find("butterfly") != spelling.npos || spelling.find("dissemination:") != spelling.npos;
}

template <class Check>
void for_each_frugal_plan(Check check) {
    for (const std::string spelling : every_plan)
        if (!may_have_spare_messages(spelling)) check(spelling);
}

}  // namespace

TEST_CASE("up to 40 ranks no message can be dropped but from the butterfly and from several ways a round") {
    for_each_frugal_plan([](const std::string& spelling) {
        CAPTURE(spelling);
        for (Rank ranks = 2; ranks <= 40; ++ranks) CHECK(spare_messages(spelling, ranks).empty());
    });
}

TEST_CASE("in larger plans no message of a spread sample can be dropped") {
    for_each_frugal_plan([](const std::string& spelling) {
        CAPTURE(spelling);
        for (const Rank ranks : {47U, 64U, 100U, 255U, 257U, 1000U}) {
            CAPTURE(ranks);
            const Plan plan = make_plan(spelling, ranks);
            const Words words = written_out(plan);
            const std::vector<Channel> all = channels(plan);
            for (std::size_t i = 0; i < 23; ++i) CHECK_FALSE(spare(words, all[i * (all.size() - 1) / 22]));
        }
    });
}

TEST_CASE("the butterfly has exactly the listed spare messages") {
    std::string lines;
    for (Rank ranks = 2; ranks <= 40; ++ranks) lines += butterfly_line(ranks);
    CHECK(lines == golden("spare_messages_butterfly.txt"));
}

TEST_CASE("dissemination with several ways a round has exactly the listed spare messages") {
    std::string lines;
    for (Rank ways = 2; ways <= 7; ++ways)
        for (Rank ranks = 2; ranks <= 40; ++ranks) lines += dissemination_line(ways, ranks);
    CHECK(lines == golden("spare_messages_dissemination.txt"));
}

TEST_CASE("the butterfly has no spare message at powers of two") {
    for (Rank ranks = 2; ranks <= 128; ranks *= 2) CHECK(butterfly_line(ranks) == "");
}

TEST_CASE("dissemination has no spare message at powers of the ways plus one") {
    for (Rank ways = 1; ways <= 7; ++ways)
        for (Rank ranks = ways + 1; ranks <= 128; ranks *= ways + 1) CHECK(dissemination_line(ways, ranks) == "");
}
