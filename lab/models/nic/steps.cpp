// SPDX-License-Identifier: Apache-2.0
// The steps of a plan as the NIC paper counts them, on a clock that every message sets forward.
#include <tollbar/models/nic.hpp>

#include "analysis/replay.hpp"
#include "analysis/matching.hpp"
#include "checks.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace tollbar::nic_model {

using namespace detail;

namespace {

/// Visits a replay. Neighbouring signals are of the same step.
class Counter {
public:
    explicit Counter(const Matching& matching)
        : matching_(matching), of_message_(matching.messages), behind_(matching.members), sending_(matching.members),
          seen_(matching.members) {}

    void signal(Rank self, Index step) {
        if (!sending_[self]) ++behind_[self];
        sending_[self] = true;
        seen_[self].insert(of_message_[matching_.message[step]] = behind_[self]);
    }

    void await_set(Rank self, Index begin, Index end) {
        sending_[self] = false;
        for (Index step = begin; step < end; ++step) {
            const std::uint32_t sent = of_message_[matching_.message[step]];
            behind_[self] = std::max(behind_[self], sent);
            seen_[self].insert(sent);
        }
    }

    Steps steps() {
        Steps steps;
        for (const std::set<std::uint32_t>& seen : seen_) {
            steps.of_rank.push_back(static_cast<std::uint32_t>(seen.size()));
            if (!seen.empty()) steps.total = std::max(steps.total, *seen.rbegin());
        }
        steps.of_rank.resize(matching_.ranks);
        return steps;
    }

private:
    const Matching& matching_;
    std::vector<std::uint32_t> of_message_;
    std::vector<std::uint32_t> behind_;
    std::vector<bool> sending_;
    std::vector<std::set<std::uint32_t>> seen_;
};

}  // namespace

Steps steps(const Plan& plan) {
    const Matching matching = match(plan);
    if (!matching.fault.holds()) throw never_ends(plan, matching.fault);
    Counter counter(matching);
    if (replay(matching, counter)) throw never_ends(plan, verify(plan));
    return counter.steps();
}

}  // namespace tollbar::nic_model
