// SPDX-License-Identifier: Apache-2.0
// The events of host-based and NIC-based barriers: every unit of every node serves what comes to it in turn.
#include <tollbar/models/nic.hpp>

#include "analysis/matching.hpp"
#include "checks.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::nic_model {

using namespace detail;

namespace {

/// Until when each unit of a node is busy, and the await set at which it waits.
struct Node {
    double host_us = 0, sdma_us = 0, xmit_us = 0, recv_us = 0, rdma_us = 0;
    double through_us = 0;
    Index set_end = 0;
    Index missing = 0;  // signals of that set; 0: it does not wait
};

class NicSimulation {
public:
    NicSimulation(const Matching& matching, Where where, const Parameters& cost, const Workload& workload,
                  std::size_t most_spans, const Watch& watch)
        : matching_(matching), where_(where), cost_(cost), workload_(workload), most_spans_(most_spans), watch_(watch),
          barriers_(workload.barriers()), nodes_(matching.members), cursor_(matching), ends_(matching.messages) {
        for (Rank self = 0; self < matching.members; ++self)
            for (Index step = matching.first[self]; step < matching.first[self + 1]; ++step) {
                Ends& ends = ends_[matching.message[step]];
                (is_signal(matching.steps[step]) ? ends.from : ends.to) = self;
                (is_signal(matching.steps[step]) ? ends.signal : ends.await) = step;
            }
    }

    /// Whether everybody came to the end.
    bool run() {
        for (Rank role = matching_.ranks; role < matching_.members; ++role) enter(role);
        for (Rank rank = 0; rank < matching_.ranks; ++rank)
            at(computed(rank, workload_.late_us.empty() ? 0 : workload_.late_us[rank]), &NicSimulation::enter, rank);
        // Nodes in step have their events at the same instants, so these are few: first created, first served.
        for (; !events_.empty(); events_.erase(events_.begin())) {
            now_us_ = events_.begin()->first;
            const std::vector<Event>& now = events_.begin()->second;
            std::size_t next = 0;
            while (next < now.size()) {  // what happens may add to it, and move it
                const Event event = now[next++];
                (this->*event.happens)(event.about);
                if (++outcome_.events % events_between_looks == 0 && watch_)
                    watch_({now_us_, passed_, barriers_ * matching_.members});
            }
        }
        return passed_ == barriers_ * matching_.members;
    }

    Outcome outcome() {
        outcome_.barriers = barriers_;
        outcome_.messages = barriers_ * matching_.messages;
        outcome_.first_us = nodes_.front().through_us;
        nodes_.resize(matching_.ranks);
        for (const Node& node : nodes_) {
            outcome_.last_us = std::max(outcome_.last_us, node.through_us);
            outcome_.first_us = std::min(outcome_.first_us, node.through_us);
            outcome_.mean_us += node.through_us / static_cast<double>(nodes_.size());
        }
        return std::move(outcome_);
    }

private:
    struct Ends {
        Rank from;
        Rank to;
        Index signal;  // the step that sends it
        Index await;   // the step that takes it
    };

    struct Event {
        void (NicSimulation::*happens)(std::uint32_t about);
        std::uint32_t about;  // a member or a message
    };

    void at(double us, decltype(Event::happens) happens, std::uint32_t about) {
        events_[us].push_back({happens, about});
    }

    /// Gives work to a unit that is busy until `free_us`; returns when it is done.
    double serve(double& free_us, Stage stage, double takes_us, Rank rank, Rank peer) {
        const double from_us = std::max(now_us_, free_us);
        free_us = from_us + takes_us;
        if (outcome_.history.size() < most_spans_) outcome_.history.push_back({rank, stage, peer, from_us, free_us});
        return free_us;
    }

    void to_card(Index message) {
        const auto [from, to, signal, await] = ends_[message];
        const double us = serve(nodes_[from].sdma_us, Stage::sdma, cost_.sdma_us, from, to);
        at(us, &NicSimulation::transmit, message);
    }

    void receive(Index message) {
        const auto [from, to, signal, await] = ends_[message];
        const double us = serve(nodes_[to].recv_us, Stage::recv, cost_.recv_us, to, from);
        at(us, where_ == Where::host ? &NicSimulation::to_host : &NicSimulation::take_in, message);
    }

    void to_host(Index message) {
        const auto [from, to, signal, await] = ends_[message];
        at(serve(nodes_[to].rdma_us, Stage::rdma, cost_.rdma_us, to, from), &NicSimulation::take_in, message);
    }

    /// Wormhole routing: the head is at the other end before the tail has left. Signals that leave together are one
    /// broadcast.
    void transmit(Index message) {
        const Ends& ends = ends_[message];
        Node& from = nodes_[ends.from];
        const double starts_us = std::max(now_us_, from.xmit_us);
        serve(from.xmit_us, Stage::xmit, cost_.xmit_us, ends.from, ends.to);
        Index step = ends.signal;
        do {
            at(starts_us + cost_.network_us, &NicSimulation::receive, matching_.message[step]);
        } while (++step < matching_.first[ends.from + 1] && matching_.leaves_with_former(ends.from, step));
    }

    void take_in(Index message) {
        const Ends& ends = ends_[message];
        Node& node = nodes_[ends.to];
        const Index next = cursor_.next(ends.to);
        const bool awaited = node.missing > 0 && ends.await >= next && ends.await < node.set_end;
        if (cursor_.come(message) != cursor_.episode(ends.to) || !awaited) return;  // it is early
        take(message);
        if (--node.missing > 0) return;
        cursor_.go_on(ends.to, node.set_end - next);
        go_on(ends.to);
    }

    void take(Index message) {
        const Ends& ends = ends_[message];
        if (where_ == Where::host) serve(nodes_[ends.to].host_us, Stage::hrecv, cost_.hrecv_us, ends.to, ends.from);
    }

    void enter(Rank self) {
        cursor_.enter(self);
        if (cursor_.finished(self)) return pass(self);
        if (where_ == Where::host || self >= matching_.ranks) return go_on(self);
        at(serve(nodes_[self].host_us, Stage::send, cost_.send_us, self, self), &NicSimulation::go_on, self);
    }

    /// As far as the awaits allow. A host may be ahead of the clock here: what it has begun it will end, and what
    /// it sends is given to the next unit by an event of its own.
    void go_on(Rank self) {
        Node& node = nodes_[self];
        while (!cursor_.finished(self)) {
            const Index next = cursor_.next(self), message = matching_.message[next];
            if (cursor_.is_at_await(self)) {
                node.set_end = matching_.set_end(next, self);
                for (Index step = next; step < node.set_end; ++step) {
                    if (cursor_.met(self, step))
                        take(matching_.message[step]);
                    else
                        ++node.missing;
                }
                if (node.missing > 0) return;
                cursor_.go_on(self, node.set_end - next);
                continue;
            }
            cursor_.go_on(self);
            if (matching_.leaves_with_former(self, next)) continue;
            if (where_ == Where::nic) {
                transmit(message);
                continue;
            }
            const double sent_us = serve(node.host_us, Stage::send, cost_.send_us, self, matching_.steps[next].peer);
            at(sent_us, &NicSimulation::to_card, message);
        }
        if (self >= matching_.ranks || where_ == Where::host)
            return at(std::max(now_us_, node.host_us), &NicSimulation::pass, self);
        node.host_us = serve(node.rdma_us, Stage::rdma, cost_.rdma_us, self, self);  // the host waits for the notice
        at(serve(node.host_us, Stage::hrecv, cost_.hrecv_us, self, self), &NicSimulation::pass, self);
    }

    void pass(Rank self) {
        Node& node = nodes_[self];
        ++passed_;
        node.through_us = now_us_;
        if (cursor_.episode(self) == barriers_) return;
        at(self < matching_.ranks ? computed(self, now_us_) : now_us_, &NicSimulation::enter, self);
    }

    /// When a node that begins to compute at `from_us` enters its next barrier.
    double computed(Rank self, double from_us) const {
        return from_us + workload_.before_us(self, cursor_.episode(self));
    }

    const Matching& matching_;
    const Where where_;
    const Parameters& cost_;
    const Workload& workload_;
    const std::size_t most_spans_;
    const Watch& watch_;
    const std::uint64_t barriers_;
    std::vector<Node> nodes_;
    Cursor<Matching> cursor_;
    std::vector<Ends> ends_;
    std::map<double, std::vector<Event>> events_;  // by when they happen
    std::uint64_t passed_ = 0;
    double now_us_ = 0;
    Outcome outcome_;
};

}  // namespace

Outcome simulate(const Plan& plan, Where where, const Parameters& parameters, const Workload& workload,
                 std::size_t most_spans, const Watch& watch) {
    check(parameters);
    check(workload, plan.ranks());
    const Matching matching = match(plan);
    if (!matching.fault.holds()) throw never_ends(plan, matching.fault);
    NicSimulation simulation(matching, where, parameters, workload, most_spans, watch);
    if (!simulation.run()) throw never_ends(plan, verify(plan));
    return simulation.outcome();
}

}  // namespace tollbar::nic_model
