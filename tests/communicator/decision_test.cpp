// SPDX-License-Identifier: Apache-2.0
// Decisions follow from facts, options and means alone: no MPI, no environment.
#include "communicator/decision.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

namespace {

/// Ranks on those nodes, each with one CPU of its own; the plan is asked for by all.
std::vector<Facts> facts_of(const std::vector<std::uint64_t>& nodes, const std::string& plan = "") {
    std::vector<Facts> all(nodes.size());
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        all[rank].node = nodes[rank];
        all[rank].standing.cpus.bits[0] = std::uint64_t{1} << rank;
        all[rank].network = {.asked = TOLLBAR_NETWORK_P2P, .address = 0, .error = ENOENT};
        plan.copy(all[rank].plan, sizeof all[rank].plan - 1);
        all[rank].address = {.host = "a", .process = static_cast<std::int32_t>(rank)};
    }
    return all;
}

/// The same facts, of ranks that were asked to use their NICs and have them.
std::vector<Facts> with_nics(std::vector<Facts> all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        all[rank].network = {
            .asked = TOLLBAR_NETWORK_NIC, .address = static_cast<std::uint32_t>(all[rank].node), .error = 0};
    return all;
}

tollbar_mpi_options options() {
    tollbar_mpi_options options{};
    options.name = "world";
    options.mpi = "any";
    options.plan_named_by = "the setting";
    options.plan = "of the setting";
    options.budget_ms = 20;
    return options;
}

Means means(const std::string& stored = "") {
    return {.ticket = 7,
            .key = {1, 2},
            .stored_plan = [=](const MpiSituation&) { return stored.empty() ? std::nullopt : std::optional(stored); },
            .tuning_file = "tuning"};
}

Decided decided(const std::vector<Facts>& all, const std::string& stored = "") {
    return decide(all, options(), means(stored));
}

std::vector<std::string> lines(const Decided& decided) {
    std::vector<std::string> lines;
    for (const Remark& remark : decided.remarks) lines.push_back(remark.line);
    return lines;
}

const std::vector<std::string> none;

}  // namespace

TEST_CASE("nodes are numbered in the order of their lowest ranks") {
    const Decision made = decided(facts_of({30, 10, 30, 20, 10})).decision;
    CHECK(made.node_of == std::vector<Rank>{0, 1, 0, 2, 1});
    CHECK(made.nodes_with_ranks() == Groups{{0, 2}, {1, 4}, {3}});
    CHECK(leaders_of(made.nodes_with_ranks()) == std::vector<Rank>{0, 1, 3});
    CHECK(made.nodes == 3);
    CHECK(made.per_node == 2);
}

TEST_CASE("each rank is a node of its own where ranks may not share memory") {
    tollbar_mpi_options apart = options();
    apart.sharing = TOLLBAR_SHARING_NEVER;
    const Decision made = decide(facts_of({1, 1, 1}), apart, means()).decision;
    CHECK(made.nodes == 3);
    CHECK_FALSE(made.makes_arenas);
}

TEST_CASE("a communicator is crowded when one of its nodes has more ranks than CPUs") {
    std::vector<Facts> all = facts_of({1, 1, 2});
    CHECK_FALSE(decided(all).decision.crowded);
    all[1].standing = all[0].standing;
    CHECK(decided(all).decision.crowded);
}

TEST_CASE("a node uses the arena that all its ranks have, and else gets one") {
    std::vector<Facts> all = facts_of({1, 1, 2, 2, 3});
    all[0].arenas = {5, 6};
    all[1].arenas = {6};
    all[2].arenas = {5};
    const Decision made = decided(all).decision;
    CHECK(made.arena_of == std::vector<std::uint64_t>{6, 0, 0});
    CHECK(made.makes_arenas);
    all[3].arenas = {5};
    CHECK_FALSE(decided(all).decision.makes_arenas);
}

TEST_CASE("the plan that all ask for counts, then the stored one, then none") {
    CHECK(std::string(decided(facts_of({1, 2}, "mcs:2,2"), "central").decision.plan) == "mcs:2,2");
    CHECK(std::string(decided(facts_of({1, 2}), "central").decision.plan) == "central");
    CHECK(decided(facts_of({1, 2})).decision.plan[0] == '\0');
    CHECK(lines(decided(facts_of({1, 2}, "mcs:2,2"))) == none);
}

TEST_CASE("ranks that ask for different plans get none of them, and that is said for every communicator") {
    std::vector<Facts> all = facts_of({1, 1, 1}, "mcs");
    std::string("bst").copy(all[1].plan, 4);
    const Decided made = decided(all);
    CHECK(made.decision.plan[0] == '\0');
    CHECK(lines(made) ==
          std::vector<std::string>{
              "world: the ranks ask for different plans: rank 0 'mcs', rank 1 'bst'; choosing one for all"});
    CHECK(made.remarks[0].key.empty());
}

TEST_CASE("a plan that cannot be run is refused in the name of the setting") {
    const Decided made = decided(facts_of({1, 2}, "foo"));
    CHECK(made.decision.plan[0] == '\0');
    REQUIRE(made.remarks.size() == 1);
    CHECK(made.remarks[0].line.starts_with("the setting is 'foo': "));
    tollbar_mpi_options from_environment = options();
    from_environment.plan = nullptr;
    const Decided other = decide(facts_of({1, 2}, "foo"), from_environment, means());
    CHECK(other.remarks.at(0).line.starts_with("TOLLBAR_PLAN is 'foo': "));
    CHECK(other.remarks.at(0).key == "TOLLBAR_PLAN");
}

TEST_CASE("a stored plan that cannot be run is named with its file") {
    const Decided made = decided(facts_of({1, 2}), "central:3");
    CHECK(made.decision.plan[0] == '\0');
    REQUIRE(made.remarks.size() == 1);
    CHECK(made.remarks[0].line.starts_with("tuning: "));
}

TEST_CASE("a plan that asks for NICs goes by messages where a leader has none, and one remark says why") {
    std::vector<Facts> all = facts_of({1, 1, 2}, "turnstile/card:pairwise");
    for (Facts& one : all) one.network.asked = TOLLBAR_NETWORK_AUTO;
    const Decided made = decided(all);
    CHECK(std::string(made.decision.plan) == "turnstile/pairwise");
    CHECK_FALSE(made.decision.has_nics());
    CHECK(lines(made) ==
          std::vector<std::string>{"world: using messages instead of network cards: rank 0 (host a) has no tollbar NIC "
                                   "daemon (No such file or directory; start it there: `tollbar nic up`)"});
    CHECK(made.remarks[0].for_the_curious);
}

TEST_CASE("leaders with NICs of their own use them, and the plan moves there where that was asked for") {
    const Decided made = decided(with_nics(facts_of({1, 1, 2}, "turnstile/mcs")));
    CHECK(std::string(made.decision.plan) == "turnstile/card:mcs");
    CHECK(made.decision.nics == std::vector<std::uint32_t>{1, 2});
    CHECK(made.decision.has_nics());
    CHECK(lines(made) == none);
}

TEST_CASE("ranks that were asked to use different networks use messages") {
    std::vector<Facts> all = with_nics(facts_of({1, 2}));
    all[1].network.asked = TOLLBAR_NETWORK_P2P;
    const Decided made = decided(all);
    CHECK(made.decision.network == TOLLBAR_NETWORK_P2P);
    CHECK(lines(made) == std::vector<std::string>{
                             "world: the ranks disagree about the network: rank 0 'nic', rank 1 'p2p'; all use p2p"});
}

TEST_CASE("nodes that meet on their NICs do so under a key of 128 bits that no other communicator has") {
    const std::vector<Facts> both = with_nics(facts_of({1, 2}));
    std::set<std::uint64_t> halves;
    for (int communicator = 0; communicator < 100; ++communicator) {
        const Decision made = decide(both, options(), own_means()).decision;
        CHECK(made.has_nics());
        halves.insert({made.key.low, made.key.high});
    }
    CHECK(halves.size() == 200);
    CHECK(!halves.contains(0));
}

TEST_CASE("tickets of communicators that draw neighbouring numbers keep apart") {
    std::set<std::uint64_t> all;
    std::size_t drawn = 0;
    for (std::uint64_t ticket : {std::uint64_t{0}, std::uint64_t{1} << 32, std::uint64_t{256}, ~std::uint64_t{0}}) {
        Terms terms{};
        terms.ticket = ticket;
        for (Rank node = 0; node < 1000; ++node)
            for (const unsigned number : {0U, 1U, 2U, 255U}) {
                const std::uint64_t one = ticket_of(terms, node, static_cast<std::uint8_t>(number));
                CHECK((one != 0 && ~one != 0));
                all.insert(one);
                ++drawn;
            }
    }
    CHECK(all.size() == drawn);
}
