// SPDX-License-Identifier: Apache-2.0
// From an evaluated episode to its price and its messages; wrong arguments are refused here.
#include <tollbar/price.hpp>

#include "alike.hpp"
#include "checks.hpp"
#include "evaluate.hpp"

#include "plan/wording.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

namespace tollbar {

using namespace detail;

namespace {

std::vector<double> entries(Rank ranks, Rank members, std::span<const Late> late) {
    std::vector<double> entered_us(members);
    for (const Late& one : late) {
        if (one.rank >= ranks)
            throw std::invalid_argument(worded({"late rank ", one.rank, " is not one of 0..", ranks - 1}));
        check_time(one.by_us, worded({"the lateness of rank ", one.rank}));
        entered_us[one.rank] = std::max(entered_us[one.rank], one.by_us);
    }
    return entered_us;
}

Evaluation evaluate(const Plan& plan, const Matching& matching, const LogP& logp, Receive receive,
                    std::span<const Late> late) {
    check_times(logp);
    const std::vector<double> entered_us = entries(plan.ranks(), plan.members(), late);
    const auto refuse = [&](const Verdict& verdict) {
        return std::invalid_argument(worded({"plan '", plan.name(), "' has no price: ", verdict.explain()}));
    };
    if (!matching.fault.holds()) throw refuse(matching.fault);

    Evaluation evaluation = evaluate(matching, logp, receive, entered_us);
    if (!evaluation.finished) throw refuse(verify(plan));
    return evaluation;
}

/// Without an array of all steps, where one rank stands for all; nothing elsewhere.
std::optional<Price> price_one_for_all(const Plan& plan, const LogP& logp, Receive receive) {
    const std::optional<Matching> one = match_one_for_all(plan);
    if (!one) return std::nullopt;
    const Evaluation evaluation = evaluate(*one, logp, receive, {0});
    if (!evaluation.finished) return std::nullopt;
    const double left_us = evaluation.completion_us.front();
    return Price{.last_us = left_us,
                 .first_us = left_us,
                 .mean_us = left_us,
                 .messages = std::uint64_t{plan.ranks()} * one->messages,
                 .operations = std::uint64_t{plan.ranks()} * one->steps.size(),
                 .completion_us = std::vector<double>(plan.ranks(), left_us)};
}

}  // namespace

Price price(const Plan& plan, const LogP& logp, Receive receive, std::span<const Late> late) {
    check_times(logp);
    if (late.empty() && receive != Receive::on_arrival)
        if (std::optional<Price> of_all = price_one_for_all(plan, logp, receive)) return *std::move(of_all);
    const Matching matching = match(plan);
    Evaluation evaluation = evaluate(plan, matching, logp, receive, late);
    Price price;
    price.completion_us = std::move(evaluation.completion_us);
    price.completion_us.resize(plan.ranks());
    const auto [first, last] = std::ranges::minmax(price.completion_us);
    price.first_us = first;
    price.last_us = last;
    price.mean_us = std::accumulate(price.completion_us.begin(), price.completion_us.end(), 0.0) / plan.ranks();
    price.messages = matching.messages;
    price.operations = evaluation.operations;
    return price;
}

std::vector<Message> price_messages(const Plan& plan, const LogP& logp, Receive receive, std::span<const Late> late) {
    const Matching matching = match(plan);
    const Evaluation evaluation = evaluate(plan, matching, logp, receive, late);
    std::vector<Message> messages;
    messages.reserve(matching.messages);
    for (Rank to = 0; to < matching.members; ++to)
        for (Index step = matching.first[to]; step < matching.first[to + 1]; ++step) {
            if (!is_await(matching.steps[step])) continue;
            const Index message = matching.message[step];
            const double sent_us = evaluation.sent_us[message];
            messages.push_back({.from = plan.member_at(matching.steps[step].peer),
                                .to = plan.member_at(to),
                                .sent_us = sent_us,
                                .arrived_us = sent_us + logp.o_s() + logp.L,
                                .received_us = evaluation.received_us[message]});
        }
    std::ranges::sort(messages, {}, [](const Message& m) { return std::tuple(m.received_us, m.to, m.from); });
    return messages;
}

}  // namespace tollbar
