// SPDX-License-Identifier: Apache-2.0
// A course whose nodes meet elsewhere. In place of cards, which need rights, they meet over UDP on the loopback; that
// a card is gone is said by the test.
#include "transports/mpi/course.hpp"

#include "transports/udp/company.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/udp.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace std::chrono_literals;

/// A message that leaves when its MPI gets a turn.
struct tollbar_channel {
    bool waits;
};

namespace {

class Elsewhere final : public NodeCard {
public:
    explicit Elsewhere(udp_participant self) : self_(std::move(self)) {}

    bool arrive() noexcept override {
        if (gone) return false;
        self_.arrive();
        return true;
    }
    State test() noexcept override { return self_.test() ? State::over : gone ? State::gone : State::under_way; }
    State wait_until(Deadline deadline) noexcept override {
        const bool over = self_.wait_for(deadline.at - std::chrono::steady_clock::now()).done;
        return over ? State::over : gone ? State::gone : State::under_way;
    }

    std::atomic<bool> gone{false};

private:
    udp_participant self_;
};

std::vector<std::unique_ptr<Elsewhere>> cards(Rank nodes) {
    testing::Places places(nodes);
    std::vector<std::unique_ptr<Elsewhere>> all;
    for (Rank node = 0; node < nodes; ++node)
        all.push_back(std::make_unique<Elsewhere>(
            places.join(make_plan("pairwise", nodes), node, {.key = testing::a_key, .linger = 100ms})));
    return all;
}

/// Whose only message is that the MPI got a turn.
tollbar_carrier carrier(std::atomic<int>& turns) {
    tollbar_carrier made{};
    made.state = &turns;
    made.progress = [](void* state) { static_cast<std::atomic<int>*>(state)->fetch_add(1); };
    return made;
}

CourseStep on_card(NodeCard* card, bool arrives) {
    return {.by = CourseStep::By::card, .wired = {}, .channel = nullptr, .card = card, .sends = arrives};
}

/// A leader alone on its node.
struct Leader {
    explicit Leader(NodeCard* card)
        : course(carrier(turns), {on_card(card, true), on_card(card, false)}, CourseWaiting{}) {}

    std::atomic<int> turns{0};
    Course course;
};

Deadline soon() { return deadline_after(20ms); }

}  // namespace

TEST_CASE("nobody leaves before the last node has arrived, whichever it is, and the MPI gets its turns") {
    constexpr Rank nodes = 5;
    constexpr Episode episodes = 40;
    auto places = cards(nodes);
    std::vector<std::atomic<Episode>> entered(nodes);
    std::vector<std::thread> threads;
    std::atomic<int> early{0};
    std::atomic<int> without_turns{0};
    for (Rank node = 0; node < nodes; ++node)
        threads.emplace_back([&, node] {
            Leader leader(places[node].get());
            for (Episode episode = 1; episode <= episodes; ++episode) {
                const bool late = episode % nodes == node;
                for (Rank other = 0; late && other < nodes; ++other)
                    while (other != node && entered[other].load() < episode) std::this_thread::yield();
                if (late) std::this_thread::sleep_for(1ms);
                entered[node].store(episode);
                const int before = leader.turns.load();
                leader.course.start();
                if (episode % 2 == 0) {
                    while (!leader.course.advance()) std::this_thread::yield();
                } else {
                    leader.course.finish(Never{});
                    without_turns += episode % nodes == (node + 1) % nodes && leader.turns.load() == before;
                }
                for (const auto& other : entered) early += other.load() < episode;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(early == 0);
    CHECK(without_turns == 0);
}

TEST_CASE("a wait that ran out of time may go on") {
    auto places = cards(2);
    Leader first(places[0].get()), second(places[1].get());
    first.course.start();
    CHECK_FALSE(first.course.finish(soon()));
    CHECK_FALSE(first.course.lost());
    CHECK(first.course.awaits_card());
    second.course.start();
    std::thread other([&] { second.course.finish(Never{}); });
    CHECK(first.course.finish(Never{}));
    other.join();
}

TEST_CASE("a card that is gone ends the wait, and not the episode") {
    auto places = cards(2);
    Leader leader(places[0].get());
    leader.course.start();
    std::thread killer([&] {
        std::this_thread::sleep_for(5ms);
        places[0]->gone = true;
    });
    CHECK_FALSE(leader.course.finish(Never{}));
    killer.join();
    CHECK(leader.course.lost());
    CHECK_FALSE(leader.course.finished());
    CHECK_FALSE(leader.course.advance());
}

TEST_CASE("a card that is gone before the arrival is found at once") {
    auto places = cards(2);
    places[0]->gone = true;
    Leader leader(places[0].get());
    leader.course.start();
    CHECK_FALSE(leader.course.advance());
    CHECK(leader.course.lost());
}

TEST_CASE("the others of a node learn of it, and leave what had ended before") {
    auto places = cards(2);
    Word<NativeSync> word{0};
    Bell<NativeSync> bell;
    std::atomic<bool> lost{false};
    std::atomic<int> turns{0};
    const auto at_word = [&](Deed deed) {
        return CourseStep{
            .by = CourseStep::By::word,
            .wired = {.word = &word, .bell = &bell, .share = 1, .skip = 0, .deed = deed, .between_processors = false},
            .channel = nullptr,
            .card = nullptr,
            .sends = false};
    };
    CourseWaiting waiting;
    waiting.lost = &lost;
    Course leader(carrier(turns),
                  {at_word(Deed::signal), on_card(places[0].get(), true), on_card(places[0].get(), false)}, waiting);
    Course follower(carrier(turns), {at_word(Deed::await)}, waiting);

    follower.start();
    leader.start();
    places[0]->gone = true;
    CHECK_FALSE(leader.finish(Never{}));
    CHECK(follower.lost());
    CHECK(follower.finish(Never{}));  // its word came before
    follower.start();
    CHECK_FALSE(follower.finish(Never{}));
}

TEST_CASE("an episode is not over before what was sent in it has left") {
    static tollbar_channel channel{.waits = false};
    std::atomic<int> turns{0};
    tollbar_carrier over_slow_connection = carrier(turns);
    over_slow_connection.start = [](void*, tollbar_channel* one) {
        one->waits = true;
        return 0;
    };
    over_slow_connection.done = [](void*, tollbar_channel* one) { return one->waits ? 0 : 1; };
    over_slow_connection.progress = [](void*) { channel.waits = false; };
    over_slow_connection.close = [](void*, tollbar_channel*) {};
    Course course(over_slow_connection,
                  {{.by = CourseStep::By::message, .wired = {}, .channel = &channel, .card = nullptr, .sends = true}},
                  CourseWaiting{});
    course.start();
    CHECK_FALSE(course.advance());
    CHECK(course.finish(Never{}));
    CHECK_FALSE(channel.waits);
}
