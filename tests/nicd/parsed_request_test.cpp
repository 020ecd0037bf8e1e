// SPDX-License-Identifier: Apache-2.0
#include "nicd/parsed_request.hpp"
#include "base/error.hpp"
#include "membership/group.hpp"
#include "wire/steps.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::nic;

namespace {

ParsedRequest of(const char* spelling, Rank rank, Rank ranks) {
    const auto steps = compile_steps(make_plan(spelling, ranks), rank);
    ParsedRequest asked{.request = {.verb = Verb::join,
                                    .key = {1, 0},
                                    .rank = rank,
                                    .ranks = ranks,
                                    .port = 9,
                                    .steps = static_cast<std::uint32_t>(steps.size())},
                        .addresses = {}};
    std::ranges::copy(steps, asked.request.program.begin());
    for (const Rank known : known_ranks(steps, rank, ranks)) asked.addresses.push_back({known, 0x0a000000 + known});
    return asked;
}

std::vector<std::byte> packed(const ParsedRequest& asked) {
    std::vector<std::byte> bytes(sizeof asked.request + asked.addresses.size() * sizeof(RankAddress));
    std::memcpy(bytes.data(), &asked.request, sizeof asked.request);
    if (!asked.addresses.empty())
        std::memcpy(bytes.data() + sizeof asked.request, asked.addresses.data(), bytes.size() - sizeof asked.request);
    return bytes;
}

bool is_refused(const ParsedRequest& asked) {
    try {
        check_join(asked);
        return false;
    } catch (const c_door::Refusal& refusal) {
        return refusal.error == EINVAL;
    }
}

}  // namespace

TEST_CASE("a member's own steps and the addresses they need are a request, however large the group") {
    for (const Rank ranks : {2U, 3U, 64U, 65U, most_ranks}) {
        const auto asked = parse(packed(of("dissemination", ranks - 1, ranks)));
        REQUIRE(asked.has_value());
        CHECK(packed(*asked).size() <= most_asked);
        CHECK(!is_refused(*asked));
        CHECK(asked->own().rank == ranks - 1);
    }
}

TEST_CASE("a packet with one byte more or less, another verb or another version is no request") {
    auto bytes = packed(of("pairwise", 0, 4));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(parse(std::span(bytes).first(size)).has_value() ==
              (size >= sizeof(Request) && (size - sizeof(Request)) % sizeof(RankAddress) == 0));
    bytes.push_back({});
    CHECK(!parse(bytes));
    for (const std::uint32_t verb : {4U, 99U, 0xffffffffU})
        CHECK(!parse(packed({.request = {.verb = static_cast<Verb>(verb)}, .addresses = {}})));
    CHECK(!parse(packed({.request = {.magic = talk_magic + 0x100, .verb = Verb::status}, .addresses = {}})));
    CHECK(parse(packed({.request = {.verb = Verb::status}, .addresses = {}})));
    CHECK(!parse(packed({.request = {.verb = Verb::status}, .addresses = {{0, 1}}})));
    CHECK(!parse(std::vector<std::byte>(most_asked + sizeof(RankAddress))));
}

TEST_CASE("a join with anything out of its range is refused") {
    const ParsedRequest good = of("mcs", 1, 8);
    REQUIRE(!is_refused(good));
    const auto with = [&](auto change) {
        ParsedRequest bad = good;
        change(bad);
        return is_refused(bad);
    };
    CHECK(with([](ParsedRequest& bad) { bad.request.ranks = 1; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.ranks = most_ranks + 1; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.rank = 8; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.port = 0; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.port = 65536; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.key.low = 0; }));
    CHECK_FALSE(with([](ParsedRequest& bad) { bad.request.key = {0, 1}; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.shape = 3; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.shape = toll_star; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.steps = 0; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.steps = toll_nic_steps + 1; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.program[0].from = 8; }));
    CHECK(with([](ParsedRequest& bad) { bad.request.program[0].to = 1; }));
    CHECK(with([](ParsedRequest& bad) { bad.addresses.pop_back(); }));
    CHECK(with([](ParsedRequest& bad) { bad.addresses.push_back({9, 9}); }));
    CHECK(with([](ParsedRequest& bad) { std::swap(bad.addresses[0], bad.addresses[1]); }));
    CHECK(with([](ParsedRequest& bad) { bad.addresses[0].address = bad.addresses[1].address; }));
}

TEST_CASE("a key is refused where all of it is zero") {
    const auto joined = [](const toll_key& key) {
        return join_group({.key = key, .id = 1, .rank = 0, .ranks = 1, .addresses = {}}, {});
    };
    CHECK(joined({0, 1}) != nullptr);
    CHECK(joined({1, 0}) != nullptr);
    CHECK_THROWS_AS(joined({0, 0}), std::invalid_argument);
}
