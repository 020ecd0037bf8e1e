// SPDX-License-Identifier: Apache-2.0
// Plans the batches within the budget and compares candidates round by round, so that a machine that is slower for a
// while is slower for all of them.
#include "contest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace tollbar::detail {

namespace {

constexpr double tie = 1.05;
constexpr double tie_while_unclear = 1.10;  // a tie that says only how little is known may not cost more
constexpr double hopeless = 1.5;
constexpr std::uint32_t most_rounds = 64;
constexpr std::size_t enough_rounds = 9;
constexpr std::uint32_t most_heats = 8;

/// A run is so long that reading the clock costs it one part in a hundred or so.
constexpr double run_us = 50;
constexpr double most_episodes = 1000;

/// From this number of ranks on, the first batch is one round: it may be long.
constexpr std::size_t many_ranks = 64;

double median_of(std::vector<double> values) {
    if (values.empty()) return std::numeric_limits<double>::infinity();
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> without_gaps(const std::vector<double>& times) {
    std::vector<double> ran;
    std::ranges::copy_if(times, std::back_inserter(ran), [](double time) { return !std::isnan(time); });
    return ran;
}

}  // namespace

std::vector<std::size_t> Batch::turns(std::uint32_t round) const {
    std::vector<std::size_t> order;
    for (std::size_t candidate = 0; candidate < Contest::most; ++candidate)
        if ((entered >> candidate & 1) != 0) order.push_back(candidate);
    if (!order.empty())
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(round % order.size()), order.end());
    return order;
}

std::size_t Batch::runs() const noexcept {
    return std::size_t{rounds} * static_cast<std::size_t>(std::popcount(entered));
}

Contest::Contest(std::size_t candidates, double budget_us, std::string_view objective)
    : times_(std::clamp<std::size_t>(candidates, 1, most)),
      entered_(static_cast<std::uint32_t>((std::uint64_t{1} << times_.size()) - 1)), budget_us_(budget_us),
      objective_(objective) {}

Batch Contest::next(double spent_us, std::size_t ranks) {
    const auto stop = [&] { return Batch{.winner = static_cast<std::int32_t>(winner())}; };
    if (times_.size() == 1 || budget_us_ <= 0) return stop();
    Batch batch{.entered = entered_, .rounds = ranks > many_ranks ? 1u : 3u, .episodes = 1};
    if (batches_ != 0) {
        drop_the_hopeless();
        batch.entered = entered_;
        const double best = median_us(fastest());
        const bool one_by_one = objective_ == "skew";
        const double wanted = std::clamp(run_us / std::max(best, 0.01), 1.0, most_episodes);
        batch.episodes = one_by_one ? 1 : static_cast<std::uint32_t>(wanted);
        // A round takes as long as one of the last batch took, or as this batch's runs should take, with its overhead.
        const double before = (spent_us - asked_at_us_) / last_rounds_;
        double ahead = 0;
        for (const std::size_t i : batch.turns(0)) ahead += median_us(i) * (batch.episodes + 1);
        const double a_round = std::max(batches_ == 1 ? ahead : before, ahead);
        const double left = budget_us_ - spent_us;
        if (batches_ == most_heats || left < a_round || std::popcount(entered_) == 1 || settled()) return stop();
        // Half of what is left, because a batch may take longer than planned; nearly all of it in the end.
        batch.rounds = static_cast<std::uint32_t>(std::clamp(left / 2 / a_round, 1.0, double{most_rounds}));
    }
    ++batches_;
    asked_at_us_ = spent_us;
    last_rounds_ = batch.rounds;
    return batch;
}

void Contest::record(const Batch& batch, std::span<const double> samples, std::size_t ranks) {
    const std::size_t runs = batch.runs();
    std::vector<double> of_ranks(ranks);
    std::size_t run = 0;
    for (std::uint32_t round = 0; round < batch.rounds; ++round) {
        for (auto& times : times_) times.push_back(not_run);
        for (const std::size_t candidate : batch.turns(round)) {
            for (std::size_t rank = 0; rank < ranks; ++rank) of_ranks[rank] = samples[rank * runs + run];
            times_[candidate].back() = judged(of_ranks);
            ++run;
        }
    }
}

double Contest::judged(std::span<const double> of_ranks) const {
    const auto [least, most_of_all] = std::ranges::minmax(of_ranks);
    if (objective_ == "skew") return most_of_all - least;
    if (objective_ == "wait")
        return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0) / static_cast<double>(of_ranks.size());
    return most_of_all;
}

double Contest::median_us(std::size_t candidate) const { return median_of(without_gaps(times_[candidate])); }

std::size_t Contest::fastest() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < times_.size(); ++i)
        if ((entered_ >> i & 1) != 0 && median_us(i) < median_us(best)) best = i;
    return best;
}

Contest::Ratio Contest::ratio(std::size_t slower, std::size_t than) const {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < times_[slower].size(); ++round) {
        const double of = times_[slower][round], to = times_[than][round];
        if (!std::isnan(of) && !std::isnan(to) && to > 0) ratios.push_back(of / to);
    }
    if (ratios.empty()) return {1, 1, 1};
    std::ranges::sort(ratios);
    // The interval of a median: order statistics, by the normal approximation of the binomial.
    const auto count = static_cast<double>(ratios.size());
    const double below = std::floor(count / 2 - 0.98 * std::sqrt(count));
    const std::size_t first = below > 0 ? static_cast<std::size_t>(below) : 0;
    return {ratios[first], median_of(ratios), ratios[ratios.size() - 1 - first]};
}

bool Contest::as_good_as(std::size_t candidate, std::size_t best) const {
    if (candidate == best) return true;
    const Ratio behind = ratio(candidate, best);
    if (behind.median <= tie) return true;
    // A few rounds overrule the model only where all of them agree.
    const bool little = without_gaps(times_[candidate]).size() < enough_rounds;
    return behind.low <= 1 && (little || behind.median <= tie_while_unclear);
}

std::size_t Contest::winner() const {
    if (batches_ == 0 || times_.front().empty()) return 0;
    const std::size_t best = fastest();
    for (std::size_t i = 0; i < best; ++i)
        if ((entered_ >> i & 1) != 0 && as_good_as(i, best)) return i;
    return best;
}

bool Contest::settled() const {
    const std::size_t best = fastest();
    for (std::size_t i = 0; i < times_.size(); ++i) {
        if (i == best || (entered_ >> i & 1) == 0) continue;
        if (without_gaps(times_[i]).size() < enough_rounds || ratio(i, best).low <= tie_while_unclear) return false;
    }
    return true;
}

void Contest::drop_the_hopeless() {
    const std::size_t best = fastest();
    const double limit = hopeless * median_us(best);
    for (std::size_t i = 0; i < times_.size(); ++i) {
        const std::vector<double> ran = without_gaps(times_[i]);
        if (i != best && !ran.empty() && std::ranges::min(ran) > limit) entered_ &= ~(std::uint32_t{1} << i);
    }
}

}  // namespace tollbar::detail
