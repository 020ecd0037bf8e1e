// SPDX-License-Identifier: Apache-2.0
// LogP with receives on arrival, LogGOPSim's rule: a message takes the CPU whether the plan awaits it yet or not.
#include "evaluate.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tollbar::detail {

namespace {

/// Events in order of time; at equal time messages before sends, else first created first. An event whose CPU
/// or port is busy is put back to when both are free. Only the first created of the messages that wait at one rank
/// is put back, because the others could not go before it: P messages to one rank stay P log P work.
class Simulation {
public:
    Simulation(const Matching& matching, const LogP& logp, const std::vector<double>& entered_us)
        : matching_(matching), logp_(logp), cursor_(matching), waiting_(matching.members) {
        cursor_.enter_all();
        evaluation_.sent_us.resize(matching.messages);
        evaluation_.received_us.resize(matching.messages);
        clocks_.reserve(matching.members);
        for (const double entered : entered_us) clocks_.push_back({.cpu = entered});
    }

    Evaluation run() && {
        for (Rank rank = 0; rank < matching_.members; ++rank) go_on(rank, clocks_[rank].cpu);
        for (; !events_.empty(); ++evaluation_.operations) {
            const Event event = events_.top();
            events_.pop();
            if (event.kind == Event::send)
                send(event);
            else
                receive(event);
        }
        evaluation_.finished = true;
        for (Rank rank = 0; rank < matching_.members; ++rank) {
            if (!cursor_.finished(rank)) evaluation_.finished = false;
            evaluation_.completion_us.push_back(clocks_[rank].cpu);
        }
        return std::move(evaluation_);
    }

private:
    struct Event {
        enum Kind : std::uint8_t { message, send };

        double at_us;
        Kind kind;
        std::uint64_t created;
        Rank rank;  // or role, by its number in the matching
        Index message_number;
        bool put_back = false;

        auto operator<=>(const Event&) const = default;
    };

    struct Waiting {
        std::uint64_t created;
        Index message;

        auto operator<=>(const Waiting&) const = default;
    };

    template <class T>
    using Lowest = std::priority_queue<T, std::vector<T>, std::greater<>>;

    /// Passes the awaits that are met, up to one that is not, or to a signal, for which it makes an event.
    void go_on(Rank self, double now_us) {
        const Index before = cursor_.next(self);
        const bool passed = cursor_.pass_awaits(self);
        const Index step = cursor_.next(self);
        evaluation_.operations += step - before;
        if (passed && !cursor_.finished(self))
            events_.push({std::max(now_us, clocks_[self].cpu), Event::send, births_++, self, matching_.message[step]});
    }

    void send(Event event) {
        Clock& clock = clocks_[event.rank];
        if (const double free_us = std::max(clock.cpu, clock.sent + logp_.g); free_us > event.at_us) {
            event.at_us = free_us;
            events_.push(event);
            return;
        }
        clock.sent = event.at_us;
        clock.cpu = event.at_us + logp_.o_s();
        Index step = cursor_.next(event.rank);
        do {
            const Index message = matching_.message[step];
            cursor_.go_on(event.rank);
            evaluation_.sent_us[message] = clock.sent;
            events_.push({clock.cpu + logp_.L, Event::message, births_++, matching_.steps[step].peer, message});
        } while (++step < matching_.first[event.rank + 1] && matching_.leaves_with_former(event.rank, step));
        go_on(event.rank, event.at_us);
    }

    void receive(const Event& event) {
        Lowest<Waiting>& waiting = waiting_[event.rank];
        const auto is_first = [&] { return !waiting.empty() && waiting.top().message == event.message_number; };
        if (event.put_back && !is_first()) return;  // another is put back in its place

        Clock& clock = clocks_[event.rank];
        if (std::max(clock.cpu, clock.received + logp_.g) > event.at_us) {
            if (!event.put_back) waiting.push({event.created, event.message_number});
            if (is_first()) put_back_first(event.rank);
            return;
        }
        if (event.put_back) waiting.pop();
        clock.received = event.at_us;
        clock.cpu = event.at_us + logp_.receiver_us();
        evaluation_.received_us[event.message_number] = clock.cpu;
        cursor_.come(event.message_number);
        if (!waiting.empty()) put_back_first(event.rank);
        if (cursor_.is_at_await(event.rank)) go_on(event.rank, event.at_us);
    }

    void put_back_first(Rank rank) {
        const Clock& clock = clocks_[rank];
        const Waiting& first = waiting_[rank].top();
        events_.push(
            {std::max(clock.cpu, clock.received + logp_.g), Event::message, first.created, rank, first.message, true});
    }

    const Matching& matching_;
    LogP logp_;
    Cursor<Matching> cursor_;
    std::vector<Lowest<Waiting>> waiting_;
    std::vector<Clock> clocks_;
    Lowest<Event> events_;
    std::uint64_t births_ = 0;
    Evaluation evaluation_;
};

}  // namespace

Evaluation evaluate_on_arrival(const Matching& matching, const LogP& logp, const std::vector<double>& entered_us) {
    return Simulation(matching, logp, entered_us).run();
}

}  // namespace tollbar::detail
