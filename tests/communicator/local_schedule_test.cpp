// SPDX-License-Identifier: Apache-2.0
// What ranks that share memory do at words, and what goes elsewhere.
#include "communicator/local_schedule.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

namespace {

using By = Composite::Step::By;
constexpr std::atomic<Occupancy> roomy{Occupancy::exclusive};

/// An MPI whose channels are not used.
tollbar_p2p no_mpi() {
    tollbar_p2p made{};
    made.open = [](void* state, Rank, tollbar_way, void*, std::uint32_t) {
        return static_cast<tollbar_channel*>(state);
    };
    made.close = [](void*, tollbar_channel*) { return 0; };
    static int anything;
    made.state = &anything;
    return made;
}

class NoBarrier final : public OuterBarrier {
    State arrive() noexcept override { return State::gone; }
    State test() noexcept override { return State::gone; }
    State wait_until(Deadline) noexcept override { return State::gone; }
};

/// One letter a step: w(ord), m(essage), a(rrival) and e(nd) elsewhere.
std::string ways(LocalSchedule& schedule, Rank self, const OuterBarrier* outer = nullptr) {
    Messages messages(no_mpi(), wait_policy::automatic, roomy);
    const std::vector<WordStep<NativeSync>> words(16);
    std::string text;
    for (const Composite::Step& step : schedule.steps(self, words, &messages, outer))
        text += step.by == By::word ? 'w' : step.by == By::message ? 'm' : step.by == By::outer_arrival ? 'a' : 'e';
    return text;
}

const Groups two_nodes{{0, 2, 4}, {1, 3}};

}  // namespace

TEST_CASE("a turnstile on one node is one word, which all add to and await") {
    LocalSchedule schedule(make_plan("turnstile", 4), Player::last, {0, 1, 2, 3});
    const Layout layout = schedule.layout();
    CHECK(layout.lines == 1);
    CHECK(layout.steps.size() == 8);
    for (Rank rank = 0; rank < 4; ++rank) CHECK(ways(schedule, rank) == "ww");
}

TEST_CASE("around what nodes do a node has a counter and a release, and only its first rank sends") {
    LocalSchedule schedule(make_plan("turnstile/dissemination", two_nodes), Player::first, two_nodes[0]);
    const Layout layout = schedule.layout();
    CHECK(layout.lines == 2);
    CHECK(layout.first == std::vector<std::uint32_t>{0, 2, 4, 6});
    CHECK(layout.steps[0].share == 2);
    CHECK(ways(schedule, 0) == "wmmwm");
    CHECK(ways(schedule, 2) == "ww");
}

TEST_CASE("who counts at a role is here with it, also where the plan between the nodes is a tree") {
    for (const char* plan : {"turnstile/central", "turnstile/mcs", "turnstile/turnstile"}) {
        CAPTURE(plan);
        LocalSchedule first(make_plan(plan, two_nodes), Player::first, two_nodes[0]);
        LocalSchedule second(make_plan(plan, two_nodes), Player::first, two_nodes[1]);
        CHECK(first.layout().steps[0].share == 2);
        CHECK(ways(first, 0) == "wmmwm");
        CHECK(second.layout().steps[0].share == 1);
        CHECK(ways(second, 1) == "wmmwm");
    }
}

TEST_CASE("ranks without common memory meet by messages alone") {
    LocalSchedule first(make_plan("turnstile/dissemination", two_nodes), Player::first, {0});
    LocalSchedule last(make_plan("turnstile/dissemination", two_nodes), Player::first, {4});
    CHECK(ways(first, 0) == "mmmmmmmmm");  // two heard, one exchange, two told; three have left
    CHECK(ways(last, 4) == "mmm");
}

TEST_CASE("a flat plan goes by words where both ends are here") {
    LocalSchedule schedule(make_plan("dissemination", 4), Player::first, {0, 1});
    CHECK(schedule.layout().steps.size() == 2);
    CHECK(ways(schedule, 0) == "wmmmm");  // to 1; from 3, to 2, from 2; what went to 2 has left
}

TEST_CASE("with a barrier elsewhere, whatever is not here is one arrival and one end") {
    const NoBarrier outer;
    for (const char* between :
         {"turnstile/dissemination", "turnstile/central", "turnstile/mcs", "turnstile/turnstile"}) {
        CAPTURE(between);
        LocalSchedule schedule(make_plan(between, two_nodes), Player::first, two_nodes[0]);
        CHECK(ways(schedule, 0, &outer) == "waew");
        CHECK(ways(schedule, 4) == "ww");
    }
}

TEST_CASE("an await says where in the plan it is") {
    LocalSchedule schedule(make_plan("turnstile/pairwise", two_nodes), Player::first, two_nodes[0]);
    Messages messages(no_mpi(), wait_policy::automatic, roomy);
    const std::vector<WordStep<NativeSync>> words(2);
    const auto steps = schedule.steps(0, words, &messages, nullptr);
    CHECK(steps[0].position == Composite::Step::nowhere);
    CHECK(steps[2].member == role(0));
    CHECK(steps[2].position == 4);  // "?0 ?2 ?4 !b ?b !0 !2 !4"
}
