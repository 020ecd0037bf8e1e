// SPDX-License-Identifier: Apache-2.0
// Messages by an MPI that does what the test says.
#include "plan/schedule.hpp"
#include "transports/mpi/messages.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/runner.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

struct tollbar_channel {
    Rank peer = 0;
    bool sends = false;
    bool under_way = false;
};

namespace {

constexpr std::atomic<Occupancy> roomy{Occupancy::exclusive};

/// Keeps what was asked of it.
struct ScriptedMpi {
    std::vector<std::unique_ptr<tollbar_channel>> channels;
    bool refuses = false;
    bool delivers = true;           ///< at once
    bool delivers_in_turn = false;  ///< of progress
    int error = 0;                  ///< what became of the communicator
    int turns = 0;

    static ScriptedMpi& of(void* state) { return *static_cast<ScriptedMpi*>(state); }

    tollbar_channel* open(Rank peer, bool sends) {
        return channels.emplace_back(new tollbar_channel{.peer = peer, .sends = sends}).get();
    }

    tollbar_p2p p2p() {
        tollbar_p2p made{};
        made.state = this;
        made.open = [](void* state, Rank peer, tollbar_way way, void*, std::uint32_t) {
            return of(state).open(peer, way == TOLLBAR_TO_PEER);
        };
        made.start = [](void* state, tollbar_channel* channel) {
            channel->under_way = !of(state).refuses && !of(state).delivers;
            return of(state).refuses ? 1 : 0;
        };
        made.done = [](void*, tollbar_channel* channel) { return channel->under_way ? 0 : 1; };
        made.close = [](void*, tollbar_channel*) { return 0; };
        made.error = [](void* state) { return of(state).error; };
        made.progress = [](void* state) {
            ++of(state).turns;
            for (const auto& channel : of(state).channels)
                if (of(state).delivers_in_turn) channel->under_way = false;
        };
        return made;
    }
};

/// One rank of a plan that runs by messages.
struct OneRank {
    OneRank(const Plan& plan, Rank self) {
        Messages messages(mpi.p2p(), wait_policy::automatic, roomy);
        steps = messages.steps(played_by_first(plan).program(self));
        runner = std::make_unique<Runner<Messages>>(steps.data(), static_cast<std::uint32_t>(steps.size()), 0,
                                                    std::move(messages));
    }

    /// "!1 ?1", and at the end "1!" for each message that has to leave.
    std::string text() const {
        std::string text;
        for (const MessageStep& step : steps) {
            const std::string peer = std::to_string(step.channel->peer);
            text += text.empty() ? "" : " ";
            text += step.kind == MessageStep::Kind::send      ? "!" + peer
                    : step.kind == MessageStep::Kind::receive ? "?" + peer
                                                              : peer + "!";
        }
        return text;
    }

    ScriptedMpi mpi;
    std::vector<MessageStep> steps;
    std::unique_ptr<Runner<Messages>> runner;
};

}  // namespace

TEST_CASE("each step is a message, and what was sent is awaited at the end") {
    CHECK(OneRank(make_plan("dissemination", 4), 0).text() == "!1 ?3 !2 ?2 1! 2!");
    CHECK(OneRank(make_plan("central", 3), 2).text() == "!0 ?0 0!");
}

TEST_CASE("the first member of a role plays it") {
    const Plan counter = make_plan("turnstile", 3);
    CHECK(OneRank(counter, 0).text() == "?1 ?2 !1 !2 1! 2!");
    CHECK(OneRank(counter, 1).text() == "!0 ?0 0!");
    const Plan nodes = make_plan("turnstile/dissemination", Groups{{0, 2}, {1, 3}});
    CHECK(OneRank(nodes, 0).text() == "?2 !1 ?1 !2 1! 2!");
    CHECK(OneRank(nodes, 3).text() == "!1 ?1 1!");
    const Plan above = make_plan("turnstile/turnstile", Groups{{0, 2}, {1, 3}});
    CHECK(OneRank(above, 0).text() == "?2 ?1 !1 !2 1! 2!");
    CHECK(OneRank(above, 1).text() == "?3 !0 ?0 !3 0! 3!");
}

TEST_CASE("no rank has two channels to a peer in one direction, whose messages could be mistaken for each other") {
    for (const Algorithm& algorithm : catalogue())
        for (Rank ranks = 1; ranks <= 12; ++ranks) {
            const Plan plan = make_plan(algorithm.name, ranks);
            for (Rank self = 0; self < ranks; ++self) {
                OneRank one(plan, self);
                for (const auto& a : one.mpi.channels)
                    for (const auto& b : one.mpi.channels)
                        CHECK((a == b || a->peer != b->peer || a->sends != b->sends));
            }
        }
}

TEST_CASE("an episode is not over before what was sent in it has left") {
    OneRank one(parse_plan("one way", "0: !1\n1: ?0\n"), 0);
    one.mpi.delivers = false;
    one.runner->start();
    CHECK_FALSE(one.runner->advance());
    CHECK(one.mpi.turns == 0);
    one.mpi.delivers_in_turn = true;
    CHECK(one.runner->finish(Never{}));
}

TEST_CASE("after the MPI has refused a message nothing counts as received, and nobody waits for it") {
    OneRank one(make_plan("pairwise", 2), 0);
    one.runner->start();
    CHECK(one.runner->advance());
    one.mpi.refuses = true;
    one.runner->start();
    CHECK_FALSE(one.runner->advance());
    CHECK_FALSE(one.runner->finish(Never{}));
    CHECK(one.runner->transport().gone());
    one.mpi.refuses = false;
    CHECK_FALSE(one.runner->advance());
}

TEST_CASE("what became of the communicator ends the wait for a message that never comes") {
    OneRank one(make_plan("pairwise", 2), 0);
    one.mpi.delivers = false;
    one.runner->start();
    CHECK_FALSE(one.runner->advance());
    CHECK_FALSE(one.runner->transport().gone());
    one.mpi.error = 75;
    CHECK_FALSE(one.runner->finish(Never{}));
    CHECK(one.runner->transport().gone());
    one.mpi.error = 0;
    one.mpi.delivers_in_turn = true;
    CHECK_FALSE(one.runner->finish(Never{}));
}
