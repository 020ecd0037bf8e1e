// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-logp: round trips between two threads, by the words of a group in one process.
#include "crew.hpp"
#include "word_link.hpp"

#include <tollbar/detail/cpus.hpp>

namespace tollbar::bench {

namespace {

int measure(Launch& launch) {
    launch.refuse_names();
    launch.begin();
    // As a group rings and waits when its two ranks have a CPU each, or have not.
    const bool roomy = std::min(tollbar::detail::usable_cpus(), quota_cpus()) >= 2;
    const Waking waking{.asymmetric = roomy && NativeSync::register_for_heavy_fence()};
    WordLink link;
    ThreadCrew crew(launch.options.ranks, launch.places());
    RoundTrips<WordEnd> words(launch, crew, "words", &link, waking,
                              roomy ? Occupancy::exclusive : Occupancy::oversubscribed);
    Rounds rounds(launch, crew);
    return rounds.run([&](std::uint32_t round) {
        rounds.floors(round);
        words.round(round);
        return true;
    });
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-logp", .measure = measure}, count, words);
}
