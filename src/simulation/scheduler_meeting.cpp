// SPDX-License-Identifier: Apache-2.0
// The barriers of Markatos et al. 1991, section 3.3: a counter, a tree (any plan, in fact), and counters on the
// processors with a tree between them.
#include "scheduler_meeting.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <stdexcept>

namespace tollbar::scheduler {

namespace {

/// Whoever tests the counter when all have arrived goes on. It counts on from episode to episode: nobody arrives
/// for the next one before all have arrived for this one.
class Counter final : public Meeting {
public:
    explicit Counter(std::size_t threads) : threads_(threads), entered_(threads) {}

    void enter(std::uint32_t thread) override {
        ++entered_[thread];
        ++arrivals_;
    }

    Step advance(std::uint32_t thread) override {
        const bool through = can_advance(thread);
        return {.moved = through, .through = through};
    }

    bool can_advance(std::uint32_t thread) const override { return arrivals_ >= entered_[thread] * threads_; }

private:
    std::uint64_t threads_;
    std::uint64_t arrivals_ = 0;
    std::vector<Episode> entered_;
};

/// A plan of the catalogue. A set of awaits is one test, as one word holds the flags of four children.
class Planned final : public Meeting {
public:
    explicit Planned(const Plan& plan)
        : wiring_(wire(plan)), told_(wiring_.messages), entered_(plan.ranks()),
          next_(wiring_.first.begin() + 1, wiring_.first.end()) {}

    void enter(std::uint32_t thread) override {
        ++entered_[thread];
        next_[thread] = wiring_.first[thread];
    }

    Step advance(std::uint32_t thread) override {
        const Index began = next_[thread], end = wiring_.first[thread + 1];
        Index& next = next_[thread];
        while (next < end)
            if (is_signal(wiring_.steps[next]))
                told_[wiring_.message[next++]] = entered_[thread];
            else if (can_advance(thread))
                next = wiring_.set_end(next, thread);
            else
                break;
        return {.moved = next != began, .through = next == end};
    }

    bool can_advance(std::uint32_t thread) const override {
        const Index end = wiring_.set_end(next_[thread], thread);
        for (Index step = next_[thread]; step < end; ++step)
            if (told_[wiring_.message[step]] < entered_[thread]) return false;
        return true;
    }

private:
    Wiring wiring_;
    std::vector<Episode> told_;     // of each message, the last episode it was signalled for
    std::vector<Episode> entered_;  // of each thread
    std::vector<Index> next_;       // of each thread, the step it stands at
};

/// Axelrod 1986: the last of a processor's threads to arrive stands for it in a tree between processors.
class Combination final : public Meeting {
public:
    explicit Combination(const std::vector<std::uint32_t>& home)
        : group_of_(grouped(home)), members_(1 + *std::ranges::max_element(group_of_)), arrivals_(members_.size()),
          released_(members_.size()), representative_(members_.size()), entered_(home.size()),
          between_(make_plan("mcs:4,2", static_cast<Rank>(members_.size()))) {
        for (const std::uint32_t group : group_of_) ++members_[group];
    }

    void enter(std::uint32_t thread) override {
        const std::uint32_t group = group_of_[thread];
        ++entered_[thread];
        if (++arrivals_[group] < entered_[thread] * members_[group]) return;
        representative_[group] = thread;
        between_.enter(group);
    }

    Step advance(std::uint32_t thread) override {
        const std::uint32_t group = group_of_[thread];
        if (!represents(thread)) {
            const bool through = can_advance(thread);
            return {.moved = through, .through = through};
        }
        const Step step = between_.advance(group);
        if (step.through) released_[group] = entered_[thread];
        return step;
    }

    bool can_advance(std::uint32_t thread) const override {
        const std::uint32_t group = group_of_[thread];
        return represents(thread) ? between_.can_advance(group) : released_[group] >= entered_[thread];
    }

private:
    /// Groups are the processors that have threads, numbered without gaps.
    static std::vector<std::uint32_t> grouped(const std::vector<std::uint32_t>& home) {
        std::vector<std::uint32_t> used = home, groups;
        std::ranges::sort(used);
        used.erase(std::unique(used.begin(), used.end()), used.end());
        for (const std::uint32_t processor : home)
            groups.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(used, processor) - used.begin()));
        return groups;
    }

    bool represents(std::uint32_t thread) const {
        const std::uint32_t group = group_of_[thread];
        return arrivals_[group] == entered_[thread] * members_[group] && representative_[group] == thread;
    }

    std::vector<std::uint32_t> group_of_;  // of each thread
    std::vector<std::uint64_t> members_;   // of each group, as are the next three
    std::vector<std::uint64_t> arrivals_;
    std::vector<Episode> released_;
    std::vector<std::uint32_t> representative_;
    std::vector<Episode> entered_;  // of each thread
    Planned between_;
};

}  // namespace

std::unique_ptr<Meeting> make_meeting(const std::string& barrier, const std::vector<std::uint32_t>& home) {
    if (barrier == "centralized") return std::make_unique<Counter>(home.size());
    if (barrier == "combination") return std::make_unique<Combination>(home);
    const auto threads = static_cast<Rank>(home.size());
    if (barrier == "tree") return std::make_unique<Planned>(make_plan("mcs:4,2", threads));
    try {
        return std::make_unique<Planned>(make_plan(barrier, threads));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("the barrier is centralized, tree, combination or a plan; as a plan: " +
                                    std::string(error.what()));
    }
}

}  // namespace tollbar::scheduler
