// SPDX-License-Identifier: Apache-2.0
// A visiting PE whose barrier signals by counters.
#include "counters.hpp"
#include "transports/shmem/serving.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

class Counting {
public:
    explicit Counting(bench::CounterBarrier* barrier) : barrier_(barrier) {}

    void arrive() { barrier_->post(); }
    void wait() { barrier_->wait(); }
    void arrive_and_wait() {
        arrive();
        wait();
    }
    bool test() { return barrier_->test(); }
    bool wait_for(std::chrono::milliseconds limit) { return barrier_->wait_until(detail::deadline_after(limit)); }
    std::vector<Rank> missing() const { return barrier_->missing(); }

private:
    bench::CounterBarrier* barrier_;
};

bool serve_by_counters(const std::string& signals, const std::string& plan, Board& board, bool far) {
    const auto counters = std::ranges::find(bench::counter_kinds, signals, &bench::CounterKind::name);
    if (counters == bench::counter_kinds.end()) return false;
    bench::CounterBarrier barrier(*counters, plan);
    serve<Counting>(&barrier, board, far);
    return true;
}

const bool is_known = (others().push_back(serve_by_counters), true);

}  // namespace
