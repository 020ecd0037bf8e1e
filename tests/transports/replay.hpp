// SPDX-License-Identifier: Apache-2.0
// The transport that obeys a script: all ranks in one thread, any plan (sound or not), and a hand on every message.
// For testing what stands above a transport, and for testing the tests of transports. It also shows how little a
// transport is: everything else is the runner's.
#pragma once

#include "conformance.hpp"
#include "visitor.hpp"

#include "plan/schedule.hpp"

#include <tollbar/detail/runner.hpp>

#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

namespace tollbar::testing {

using namespace detail;

/// Messages on their way between ranks.
class Wire {
public:
    struct Message {
        Rank from;
        Rank to;
        Episode episode;

        friend bool operator==(const Message&, const Message&) = default;
    };

    /// How many copies of a message arrive, and how many messages sent later may overtake it.
    struct Fate {
        unsigned copies = 1;
        unsigned delay = 0;
    };
    using Script = std::function<Fate(const Message&)>;

    explicit Wire(Script script) : script_(std::move(script)) {}

    void send(const Message& message) {
        const Fate fate = script_(message);
        for (unsigned copy = 0; copy < fate.copies; ++copy)
            under_way_.push_back({message, sent_ + fate.delay * (copy + 1)});
        ++sent_;
        deliver_until(sent_);
    }

    /// Delivers what is under way, however late.
    void deliver_all() { deliver_until(~std::uint64_t{0}); }

    std::uint64_t sent() const noexcept { return sent_; }

    /// How many have counted up at a role, and the last episode that it released.
    std::uint64_t& counter(Rank role) { return counters_[role]; }
    Episode& release(Rank role) { return releases_[role]; }

    Episode heard(Rank from, Rank to) const {
        const auto channel = heard_.find({from, to});
        return channel == heard_.end() ? 0 : channel->second;
    }

private:
    void deliver_until(std::uint64_t now) {
        for (std::size_t i = 0; i < under_way_.size();) {
            const auto [message, due] = under_way_[i];
            if (due > now) {
                ++i;
                continue;
            }
            Episode& heard = heard_[{message.from, message.to}];
            heard = std::max(heard, message.episode);  // a channel keeps the largest number it was told
            under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    Script script_;
    std::vector<std::pair<Message, std::uint64_t>> under_way_;
    std::map<std::pair<Rank, Rank>, Episode> heard_;
    std::map<Rank, std::uint64_t> counters_;
    std::map<Rank, Episode> releases_;
    std::uint64_t sent_ = 0;
};

/// The transport: a signal is a message on the wire, and a counter is common to all. It never sleeps for long: when
/// all is delivered and a step is still not met, nothing more will come before another rank does something.
class ReplayTransport {
public:
    using Step = Operation;
    using Sync = NativeSync;

    ReplayTransport() = default;
    explicit ReplayTransport(Wire& wire) noexcept : wire_(&wire) {}

    void entered(Episode) const noexcept {}

    std::uint32_t take(const Step& step, Episode episode) const {
        using enum Step::Kind;
        switch (step.kind) {
            case signal: wire_->send({step.from, step.to, episode}); return 1;
            case count: ++wire_->counter(step.role); return 1;
            case meet: return ++wire_->counter(step.role) == episode * step.share ? 1 : 1 + step.skip;
            case release: wire_->release(step.role) = episode; return 1;
            default: return met(step, episode) ? 1 : 0;
        }
    }

    bool met(const Step& step, Episode episode) const {
        using enum Step::Kind;
        switch (step.kind) {
            case await: return wire_->heard(step.from, step.to) >= episode;
            case counted: return wire_->counter(step.role) >= episode * step.share;
            case released: return wire_->release(step.role) >= episode;
            default: return true;
        }
    }

    void progress() const { wire_->deliver_all(); }
    WaitBudget budget(const Step&) const noexcept { return {0, 0}; }

    template <class Deadline>
    bool sleep(const Step&, Episode, Stopwatch&, Deadline) const noexcept {
        return false;
    }

    static constexpr bool gone() noexcept { return false; }

private:
    Wire* wire_ = nullptr;
};

/// One rank. Cannot block: a wait that would do so for ever throws.
class Replayed {
public:
    Replayed(Wire& wire, std::vector<Episode>& arrived, const Plan& plan, Rank self)
        : arrived_(&arrived), steps_(Lowering(plan, Player::last).operations(self)), self_(self),
          runner_(steps_.data(), static_cast<std::uint32_t>(steps_.size()), 0, ReplayTransport(wire)) {}

    void arrive() {
        if (!runner_.finished()) throw std::logic_error("rank " + std::to_string(self_) + " is not through yet");
        runner_.start();
        (*arrived_)[self_] = runner_.episode();
        test();
    }

    bool test() { return runner_.advance(); }
    bool wait_for(std::chrono::milliseconds) { return runner_.finish(Never{}); }

    void wait() {
        if (!wait_for({})) throw std::logic_error("rank " + std::to_string(self_) + " waits for ever");
    }

    void arrive_and_wait() {
        arrive();
        wait();
    }

    std::vector<Rank> missing() const {
        std::vector<Rank> missing;
        for (Rank rank = 0; rank < arrived_->size(); ++rank)
            if ((*arrived_)[rank] < runner_.episode()) missing.push_back(rank);
        return missing;
    }

private:
    std::vector<Episode>* arrived_;
    std::vector<Operation> steps_;  // stay where they are when the rank is moved
    Rank self_;
    Runner<ReplayTransport> runner_;
};

/// A call that would wait goes on whenever somebody else does something.
class Replay : public Harness {
public:
    explicit Replay(
        const Plan& plan, Wire::Script script = [](const Wire::Message&) { return Wire::Fate{}; })
        : board_(plan.ranks()), wire_(std::move(script)), arrived_(plan.ranks()), answers_(plan.ranks()),
          waiting_(plan.ranks()) {
        for (Rank rank = 0; rank < plan.ranks(); ++rank)
            visitors_.emplace_back(Replayed(wire_, arrived_, plan, rank), board_, rank);
    }

    Rank ranks() const override { return board_.ranks(); }

    void begin(Rank rank, Call call, std::uint64_t) override {
        auto& visitor = visitors_[rank];
        answers_[rank] = {true, {}};
        switch (call) {
            case Call::arrive_and_wait:
                visitor.arrive();
                waiting_[rank] = !visitor.test();
                break;
            case Call::wait: waiting_[rank] = !visitor.test(); break;
            case Call::arrive: visitor.arrive(); break;
            case Call::test: answers_[rank].done = visitor.test(); break;
            case Call::timed_wait: answers_[rank].done = visitor.wait_for({}); break;
            default: break;
        }
        if (call == Call::missing || !answers_[rank].done) answers_[rank].missing = visitor.missing();
        go_on();
    }

    bool ended(Rank rank) override { return !waiting_[rank]; }

    Answer end(Rank rank) override {
        for (bool moved = true; waiting_[rank] && moved; moved = go_on()) wire_.deliver_all();
        if (waiting_[rank]) throw std::logic_error("rank " + std::to_string(rank) + " waits for ever");
        return answers_[rank];
    }

    void run(FreeRun how) override {
        for (std::uint32_t episode = 0; episode < how.episodes; ++episode) {
            for (Rank i = 1; i <= ranks(); ++i) begin((episode + i) % ranks(), Call::arrive_and_wait, 0);
            for (Rank rank = 0; rank < ranks(); ++rank) end(rank);
        }
    }

    std::uint64_t unpaid() const override {
        std::uint64_t unpaid = 0;
        for (Rank rank = 0; rank < ranks(); ++rank) unpaid += board_[rank].unpaid;
        return unpaid;
    }

private:
    /// Lets everybody who waits go as far as possible; false when that was nowhere.
    bool go_on() {
        const std::uint64_t before = wire_.sent();
        bool left = false;
        for (bool moved = true; moved;) {
            moved = false;
            for (Rank rank = 0; rank < ranks(); ++rank)
                if (waiting_[rank] && visitors_[rank].test()) {
                    waiting_[rank] = false;
                    moved = left = true;
                }
        }
        return left || wire_.sent() != before;
    }

    Board board_;
    Wire wire_;
    std::vector<Episode> arrived_;
    std::vector<Answer> answers_;
    std::vector<bool> waiting_;
    std::vector<Visitor<Replayed>> visitors_;
};

}  // namespace tollbar::testing
