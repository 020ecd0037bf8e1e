// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-logp: round trips between two threads, by the words of a group in one process.
#include "pair.hpp"
#include "rounds.hpp"
#include "visit.hpp"
#include "word_link.hpp"

#include <tollbar/detail/crowding.hpp>

#include <memory>

namespace tollbar::bench {

namespace {

Round prepare(const Options& options, const std::vector<int>& cpus, const Pace& pace) {
    // As a group rings and waits when its two ranks have a CPU each, or have not.
    const bool roomy = std::min(tollbar::usable_cpus(), quota_cpus()) >= 2;
    const Waking waking{.asymmetric = roomy && NativeSync::register_for_heavy_fence()};
    const auto link = std::make_shared<WordLink>();
    const auto pair = std::make_shared<Pair<WordEnd>>(options, cpus, pace.batch_ns, [&](Rank rank) {
        return WordEnd(rank, *link, waking, roomy ? Crowding::roomy : Crowding::crowded);
    });
    return [link, pair](std::uint32_t number) { pair->round("words", number); };
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_single("tollbar-bench-logp", count, words, prepare);
}
