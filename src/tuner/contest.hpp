// SPDX-License-Identifier: Apache-2.0
// The umpire of a contest between barriers: it names the runs of each candidate, and from the times of all ranks the
// winner. Arithmetic only; its caller brings the clock and carries the times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail {

/// The next runs of all ranks. Plain memory, so that it can be sent.
struct Batch {
    std::int32_t winner = -1;    ///< of the contest; -1 while it goes on
    std::uint32_t entered = 0;   ///< bit i: candidate i runs
    std::uint32_t rounds = 0;    ///< each of them runs once a round, in turns that start with another one each time
    std::uint32_t episodes = 0;  ///< of a run; one more comes before, untimed

    /// The candidates of a round, in its order.
    std::vector<std::size_t> turns(std::uint32_t round) const;
    std::size_t runs() const noexcept;
};

/// Judges at most 32 candidates, the model's choice first.
///
///     Contest contest(5, 20000, "latency");
///     Batch batch = contest.next(0, ranks);
///     ... all ranks run it ...
///     contest.record(batch, samples_of_all_ranks, ranks);
///     batch = contest.next(elapsed_us, ranks);
class Contest {
public:
    static constexpr std::size_t most = 32;

    /// `objective`: "latency" judges by the slowest rank, "wait" by the mean of the ranks, "skew" by the distance
    /// between the first and the last, where a sample is the time of leaving.
    Contest(std::size_t candidates, double budget_us, std::string_view objective);

    /// `spent_us`: since the contest began. Stops where another round would not fit in the budget.
    Batch next(double spent_us, std::size_t ranks);

    /// Takes the measurements: for each rank its samples in microseconds, in the order they were taken.
    void record(const Batch& batch, std::span<const double> samples, std::size_t ranks);

    /// The first candidate that is as good as the best: at most 5 % behind, or 10 % while the interval of what was
    /// measured does not tell them apart, or more after a few rounds that contradict each other.
    std::size_t winner() const;

    /// The median of a candidate's judged times; infinite before it ran.
    double median_us(std::size_t candidate) const;

    /// How much slower one is than the other, round by round: the median, and the ends of its 95 % interval.
    struct Ratio {
        double low, median, high;
    };
    Ratio ratio(std::size_t slower, std::size_t than) const;

private:
    double judged(std::span<const double> of_ranks) const;
    bool as_good_as(std::size_t candidate, std::size_t best) const;
    std::size_t fastest() const;
    bool settled() const;
    void drop_the_hopeless();

    /// One entry a round; a candidate that did not run has no number there.
    static constexpr double not_run = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::vector<double>> times_;
    std::uint32_t entered_;
    double budget_us_;
    std::string objective_;
    double asked_at_us_ = 0;         ///< when the last batch was named
    std::uint32_t last_rounds_ = 0;  ///< how many it had
    std::uint32_t batches_ = 0;
};

}  // namespace tollbar::detail
