// SPDX-License-Identifier: Apache-2.0
// LogP with receives at the await: no event queue is needed, one pass in any valid order gives every time.
#include "evaluate.hpp"

#include "replay.hpp"

#include <algorithm>

namespace tollbar::detail {

namespace {

/// Visits a replay and moves the clocks on.
class Clocks {
public:
    Clocks(const Matching& matching, const LogP& logp, Receive receive, const std::vector<double>& entered_us,
           Evaluation& evaluation)
        : matching_(matching), logp_(logp), o_r_(logp.receiver_us()), f_s_(std::max(logp.o_s(), logp.g)),
          f_r_(std::max(o_r_, logp.g)), receive_(receive), evaluation_(evaluation) {
        clocks_.reserve(matching.members);
        for (const double entered : entered_us) clocks_.push_back({.cpu = entered});
    }

    void signal(Rank self, Index step) {
        Clock& clock = clocks_[self];
        if (!matching_.leaves_with_former(self, step)) {
            clock.sent = std::max(clock.cpu, clock.sent + f_s_);
            clock.cpu = clock.sent + logp_.o_s();
        }
        evaluation_.sent_us[matching_.message[step]] = clock.sent;
    }

    void await_set(Rank self, Index begin, Index end) {
        arrivals_.clear();
        for (Index step = begin; step < end; ++step) {
            const Index message = matching_.message[step];
            const double arrival_us = evaluation_.sent_us[message] + logp_.o_s() + logp_.L;
            arrivals_.push_back({arrival_us, matching_.steps[step].peer, message});
        }
        if (receive_ == Receive::at_await) std::ranges::sort(arrivals_);
        Clock& clock = clocks_[self];
        for (const Arrival& arrival : arrivals_) {
            clock.received = std::max({clock.cpu, clock.received + f_r_, arrival.at_us});
            clock.cpu = clock.received + o_r_;
            evaluation_.received_us[arrival.message] = clock.cpu;
        }
    }

    double completion_us(Rank self) const { return clocks_[self].cpu; }

private:
    struct Arrival {
        double at_us;
        Rank from;
        Index message;

        auto operator<=>(const Arrival&) const = default;
    };

    const Matching& matching_;
    LogP logp_;
    double o_r_, f_s_, f_r_;
    Receive receive_;
    Evaluation& evaluation_;
    std::vector<Clock> clocks_;
    std::vector<Arrival> arrivals_;
};

}  // namespace

Evaluation evaluate(const Matching& matching, const LogP& logp, Receive receive,
                    const std::vector<double>& entered_us) {
    if (receive == Receive::on_arrival) return evaluate_on_arrival(matching, logp, entered_us);
    Evaluation evaluation;
    evaluation.sent_us.resize(matching.messages);
    evaluation.received_us.resize(matching.messages);
    Clocks clocks(matching, logp, receive, entered_us, evaluation);
    evaluation.finished = !replay(matching, clocks);
    evaluation.operations = matching.steps.size();
    for (Rank self = 0; self < matching.members; ++self) evaluation.completion_us.push_back(clocks.completion_us(self));
    return evaluation;
}

}  // namespace tollbar::detail
