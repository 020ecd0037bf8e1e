// SPDX-License-Identifier: Apache-2.0
// Two threads that time round trips over links between them.
#pragma once

#include "crew.hpp"
#include "floors.hpp"
#include "options.hpp"
#include "round_trips.hpp"

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::bench {

/// One end a rank, both made before the first round.
template <End E>
class Pair {
public:
    Pair(const Options& options, std::vector<int> cpus, double batch_ns, const std::function<E(Rank)>& make_end)
        : cpus_(cpus), crew_(2, Places(options.placement, std::move(cpus))), meeting_(2) {
        if (options.ranks != 2) throw WrongUse("--ranks " + std::to_string(options.ranks) + ": a round trip has 2");
        for (Rank rank = 0; rank < 2; ++rank) {
            ends_.emplace_back(make_end(rank));
            sides_.emplace_back(rank, ends_[rank], batch_ns, [this, rank](std::uint64_t mine) {
                if (rank == 0) told_ = mine;
                meeting_.meet();
                return told_;
            });
        }
    }

    void round(std::string_view name, std::uint32_t number) {
        print_floors(measure_floors(cpus_), number);
        crew_.run([&](Rank rank) { sides_[rank].round(name, number); });
    }

private:
    std::vector<int> cpus_;
    ThreadCrew crew_;
    Meeting meeting_;
    std::uint64_t told_ = 0;
    std::deque<E> ends_;
    std::deque<RoundTrips<E>> sides_;
};

}  // namespace tollbar::bench
