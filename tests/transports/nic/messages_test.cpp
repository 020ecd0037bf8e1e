// SPDX-License-Identifier: Apache-2.0
// A host and a NIC that run the same plan send the same messages: the host's protocol beside the NIC's, whose text is
// compiled for this processor, in any order of arrivals and frames.
#include "transports/nic/descriptor.hpp"
#include "transports/nic/transport.hpp"
#include "transports/udp/hand.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <tuple>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

constexpr Episode episodes = 3;

/// From, to, the receiver's step, the episode.
using Message = std::tuple<Rank, Rank, unsigned, Episode>;
using Messages = std::vector<Message>;

class HostSide {
public:
    explicit HostSide(const Plan& plan) {
        for (Rank rank = 0; rank < plan.ranks(); ++rank) hands_.emplace_back(plan, rank);
    }

    bool over(Rank rank) const { return hands_[rank].runner.finished(); }
    Messages enter(Rank rank) {
        hands_[rank].start();
        return sent(rank);
    }
    Messages hear(const Message& message) {
        const auto& [from, to, step, episode] = message;
        hands_[to].hear(toll_signal, from, static_cast<toll_u16>(step), episode);
        hands_[to].advance();
        return sent(to);
    }

private:
    Messages sent(Rank rank) {
        Messages said;
        for (const auto& [to, frame] : std::exchange(hands_[rank].outbox.sent, {})) {
            CHECK(frame.kind == toll_signal);
            said.emplace_back(rank, to, toll_net16(frame.step), toll_net64(frame.episode));
        }
        return said;
    }

    std::deque<Hand> hands_;
};

nic::Endpoint nic_of(Rank rank) {
    return {.hardware = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(rank)}, .address = toll_net32(0x0a000000 + rank)};
}

class NicSide {
public:
    explicit NicSide(const Plan& plan) : entered_(plan.ranks()) {
        for (Rank rank = 0; rank < plan.ranks(); ++rank)
            nics_.push_back(
                nic::describe(nic::member_of(toll_identity_of({1, 0}, 1, 0), rank, plan.ranks(), 1, toll_plan), 0,
                              {.interface = 1, .number = 0, .port = 9}, compile_steps(plan, rank), nic_of));
    }

    bool over(Rank rank) const { return nics_[rank].state.at == toll_at(entered_[rank], nics_[rank].program.steps); }
    Messages enter(Rank rank) {
        toll_group& nic = nics_[rank];
        const Episode episode = ++entered_[rank];
        REQUIRE(toll_enter(&nic.state, &nic.program, episode) == 1);
        return advance(rank, nic.program.signals & 1, episode);
    }
    Messages hear(const Message& message) {
        const auto& [from, to, step, episode] = message;
        CHECK(nics_[to].steps[step].step.from == from);
        toll_record(&nics_[to].state.signalled[step], episode);
        return advance(to, 0, episode);
    }

private:
    Messages advance(Rank rank, toll_u32 due, Episode proof) {
        toll_group& nic = nics_[rank];
        toll_u64 episode = proof;
        due |= toll_advance(&nic.state, &nic.program, proof, &episode);
        Messages said;
        for (toll_u32 step = 0; step < toll_nic_steps; ++step) {
            if ((due >> step & 1) == 0) continue;
            const toll_nic_step& told = nic.steps[step];
            const toll_header expected = nic::header(nic_of(rank), nic_of(told.step.to), toll_port, toll_port);
            CHECK(std::ranges::equal(told.to.bytes, expected.bytes));
            said.emplace_back(rank, told.step.to, told.step.to_step, episode);
        }
        return said;
    }

    std::deque<toll_group> nics_;
    std::vector<Episode> entered_;
};

/// All that is sent while ranks enter and frames come in some order.
template <class Side>
Messages all_messages(const Plan& plan, std::uint64_t seed) {
    Side side(plan);
    std::mt19937_64 random(seed);
    std::vector<Episode> entered(plan.ranks());
    Messages all;
    Messages under_way;
    for (;;) {
        std::vector<Rank> ready;
        for (Rank rank = 0; rank < plan.ranks(); ++rank)
            if (entered[rank] < episodes && side.over(rank)) ready.push_back(rank);
        if (ready.empty() && under_way.empty()) break;
        const std::size_t chosen = random() % (ready.size() + under_way.size());
        Messages next;
        if (chosen < ready.size()) {
            ++entered[ready[chosen]];
            next = side.enter(ready[chosen]);
        } else {
            std::swap(under_way[chosen - ready.size()], under_way.back());
            const Message message = under_way.back();
            under_way.pop_back();
            next = side.hear(message);
        }
        all.insert(all.end(), next.begin(), next.end());
        under_way.insert(under_way.end(), next.begin(), next.end());
    }
    CHECK(std::ranges::all_of(entered, [](Episode episode) { return episode == episodes; }));
    std::ranges::sort(all);
    return all;
}

}  // namespace

TEST_CASE("hosts and NICs send the same messages for the same plan, each once an episode") {
    int compared = 0;
    for (Rank ranks = 2; ranks <= 17; ++ranks)
        for (const char* spelling : {"central", "combining", "fway_tournament", "mcs", "tournament", "bst", "pairwise",
                                     "dissemination", "dissemination:2", "central@4/dissemination"}) {
            CAPTURE(ranks);
            CAPTURE(spelling);
            const Plan plan = make_plan(spelling, ranks);
            bool fits = true;
            std::size_t signals = 0;
            for (Rank rank = 0; rank < ranks; ++rank) {
                fits &= count_steps(plan.program(rank)) <= toll_nic_steps;
                signals += static_cast<std::size_t>(std::ranges::count_if(plan.program(rank), is_signal));
            }
            if (!fits) continue;
            const Messages by_nics = all_messages<NicSide>(plan, ranks);
            CHECK(by_nics.size() == episodes * signals);
            CHECK(std::ranges::adjacent_find(by_nics) == by_nics.end());
            CHECK(by_nics == all_messages<HostSide>(plan, ranks + 1));
            ++compared;
        }
    CHECK(compared > 140);
}

TEST_CASE("a member that stays at a step that only signals awaits the rank of a later one") {
    const Plan plan = make_plan("dissemination:2", 81);
    const auto steps = compile_steps(plan, 5);
    REQUIRE(steps.front().from == TOLLBAR_NOBODY);
    toll_group group{};
    group.program.steps = static_cast<toll_u32>(steps.size());
    for (std::size_t step = 0; step < steps.size(); ++step) {
        group.steps[step].step = steps[step];
        if (steps[step].from != TOLLBAR_NOBODY) group.program.awaits |= 1U << step;
    }
    group.state.at = toll_at(1, 0);
    CHECK(nic::awaited_in(group) == std::vector<Rank>{steps[1].from});
    group.state.signalled[1] = 1;
    CHECK(nic::awaited_in(group) == std::vector<Rank>{steps[2].from});
    for (toll_word& signalled : group.state.signalled) signalled = 1;
    CHECK(nic::awaited_in(group).empty());
    group.state.at = toll_at(1, group.program.steps);
    CHECK(nic::awaited_in(group).empty());
}
