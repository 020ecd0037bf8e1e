// SPDX-License-Identifier: Apache-2.0
// Ranks whose nodes meet elsewhere. In place of NICs, which need rights, they meet over UDP on the loopback; that a
// NIC is gone is said by the test.
#include "communicator/composite.hpp"

#include "transports/udp/harness.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/udp.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;
using namespace std::chrono_literals;

namespace {

class Elsewhere final : public OuterBarrier {
public:
    explicit Elsewhere(udp_participant self) : self_(std::move(self)) {}

    State arrive() noexcept override {
        if (gone) return State::gone;
        self_.arrive();
        return State::under_way;
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

std::vector<std::unique_ptr<Elsewhere>> nics(Rank nodes) {
    testing::Endpoints endpoints(nodes);
    std::vector<std::unique_ptr<Elsewhere>> all;
    for (Rank node = 0; node < nodes; ++node)
        all.push_back(std::make_unique<Elsewhere>(
            endpoints.join(make_plan("pairwise", nodes), node, {.key = testing::a_key, .linger = 100ms})));
    return all;
}

/// Whose only message is that the MPI got a turn.
tollbar_p2p p2p(std::atomic<int>& turns) {
    tollbar_p2p made{};
    made.state = &turns;
    made.error = [](void*) { return 0; };
    made.progress = [](void* state) { static_cast<std::atomic<int>*>(state)->fetch_add(1); };
    return made;
}

constexpr std::atomic<Occupancy> roomy{Occupancy::exclusive};

Composite::Step by(Composite::Step::By how) { return {.by = how}; }

const Composite::Step arrival = by(Composite::Step::By::outer_arrival);
const Composite::Step end = by(Composite::Step::By::outer_end);

/// One rank of a node.
class OneRank {
public:
    OneRank(std::vector<Composite::Step> steps, OuterBarrier* outer, std::atomic<bool>* gave_up = nullptr)
        : messages_(p2p(turns), wait_policy::automatic, roomy), steps_(std::move(steps)),
          runner(steps_.data(), static_cast<std::uint32_t>(steps_.size()), 0,
                 Composite({.words = {wait_policy::automatic, Waking{}, roomy},
                            .messages = &messages_,
                            .outer = outer,
                            .gave_up = gave_up})) {}

    bool lost() const { return runner.transport().gone(); }

    std::atomic<int> turns{0};

private:
    Messages messages_;
    std::vector<Composite::Step> steps_;

public:
    Runner<Composite> runner;
};

/// A leader alone on its node.
struct Leader : OneRank {
    explicit Leader(OuterBarrier* nic) : OneRank({arrival, end}, nic) {}
};

Deadline soon() { return deadline_after(20ms); }

}  // namespace

TEST_CASE("nobody leaves before the last node has arrived, whichever it is, and the MPI gets its turns") {
    constexpr Rank nodes = 5;
    constexpr Episode episodes = 40;
    auto places = nics(nodes);
    std::vector<std::unique_ptr<Leader>> leaders;
    for (const auto& place : places) leaders.push_back(std::make_unique<Leader>(place.get()));
    std::vector<std::atomic<Episode>> entered(nodes);
    std::vector<std::thread> threads;
    std::atomic<int> early{0};
    for (Rank node = 0; node < nodes; ++node)
        threads.emplace_back([&, node] {
            Leader& leader = *leaders[node];
            for (Episode episode = 1; episode <= episodes; ++episode) {
                const bool late = episode % nodes == node;
                for (Rank other = 0; late && other < nodes; ++other)
                    while (other != node && entered[other].load() < episode) std::this_thread::yield();
                if (late && episode % 2 != 0) {
                    const std::atomic<int>& turns = leaders[(node + nodes - 1) % nodes]->turns;
                    const int before = turns.load();
                    while (turns.load() == before) std::this_thread::yield();  // or this test never ends
                }
                entered[node].store(episode);
                leader.runner.start();
                if (episode % 2 == 0) {
                    while (!leader.runner.advance()) std::this_thread::yield();
                } else {
                    leader.runner.finish(Never{});
                }
                for (const auto& other : entered) early += other.load() < episode;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(early == 0);
}

TEST_CASE("a wait that ran out of time may go on") {
    auto places = nics(2);
    Leader first(places[0].get()), second(places[1].get());
    first.runner.start();
    CHECK_FALSE(first.runner.finish(soon()));
    CHECK_FALSE(first.lost());
    CHECK(first.runner.steps_done() == 1);
    second.runner.start();
    std::thread other([&] { second.runner.finish(Never{}); });
    CHECK(first.runner.finish(Never{}));
    other.join();
}

TEST_CASE("a NIC that is gone ends the wait, and not the episode") {
    auto places = nics(2);
    Leader leader(places[0].get());
    leader.runner.start();
    std::thread killer([&] {
        std::this_thread::sleep_for(5ms);
        places[0]->gone = true;
    });
    CHECK_FALSE(leader.runner.finish(Never{}));
    killer.join();
    CHECK(leader.lost());
    CHECK_FALSE(leader.runner.finished());
    CHECK_FALSE(leader.runner.advance());
}

TEST_CASE("a NIC that is gone before the arrival is found at once") {
    auto places = nics(2);
    places[0]->gone = true;
    Leader leader(places[0].get());
    leader.runner.start();
    CHECK_FALSE(leader.runner.advance());
    CHECK(leader.lost());
}

TEST_CASE("the others of a node learn of it, and leave what had ended before") {
    auto places = nics(2);
    Word<NativeSync> word{0};
    Sleepers<NativeSync> sleepers;
    std::atomic<bool> lost{false};
    const auto at_word = [&](WordKind kind) {
        return Composite::Step{.by = Composite::Step::By::word,
                               .word = {.word = &word,
                                        .sleepers = &sleepers,
                                        .share = 1,
                                        .skip = 0,
                                        .kind = kind,
                                        .between_processors = false}};
    };
    OneRank leader({at_word(WordKind::signal), arrival, end}, places[0].get(), &lost);
    OneRank follower({at_word(WordKind::await)}, nullptr, &lost);

    follower.runner.start();
    leader.runner.start();
    places[0]->gone = true;
    CHECK_FALSE(leader.runner.finish(Never{}));
    CHECK(follower.lost());
    CHECK(follower.runner.finish(Never{}));  // its word came before
    follower.runner.start();
    CHECK_FALSE(follower.runner.finish(Never{}));
}
