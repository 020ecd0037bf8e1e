// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-logp: round trips between two threads, by the words of a group in one process.
#include "crew.hpp"
#include "floors.hpp"
#include "rounds.hpp"
#include "visit.hpp"
#include "word_link.hpp"

#include <tollbar/crowding.hpp>

#include <deque>
#include <memory>

namespace tollbar::bench {

namespace {

/// Two threads, their link, and how they tell each other a number.
class Pair {
public:
    Pair(const Options& options, std::vector<int> cpus, double batch_ns)
        : cpus_(cpus), crew_(2, Places(options.placement, std::move(cpus))), meeting_(2) {
        // As a group rings and waits when its two ranks have a CPU each, or have not.
        const bool roomy = std::min(tollbar::usable_cpus(), quota_cpus()) >= 2;
        const Ringing ringing{.asymmetric = roomy && NativeSync::register_for_heavy_fence()};
        for (Rank rank = 0; rank < 2; ++rank) {
            ends_.emplace_back(rank, link_, ringing, roomy ? Crowding::roomy : Crowding::crowded);
            sides_.emplace_back(rank, ends_[rank], batch_ns, [this, rank](std::uint64_t mine) {
                if (rank == 0) told_ = mine;
                meeting_.meet();
                return told_;
            });
        }
    }

    void round(std::uint32_t number) {
        print_floors(measure_floors(cpus_), number);
        crew_.run([&](Rank rank) { sides_[rank].round("words", number); });
    }

private:
    std::vector<int> cpus_;
    ThreadCrew crew_;
    Meeting meeting_;
    std::uint64_t told_ = 0;
    WordLink link_;
    std::deque<WordEnd> ends_;
    std::deque<RoundTrips<WordEnd>> sides_;
};

Round prepare(const Options& options, const std::vector<int>& cpus, const Pace& pace) {
    if (options.ranks != 2) throw WrongUse("--ranks " + std::to_string(options.ranks) + ": a round trip has 2");
    const auto pair = std::make_shared<Pair>(options, cpus, pace.batch_ns);
    return [pair](std::uint32_t number) { pair->round(number); };
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_single("tollbar-bench-logp", count, words, prepare);
}
