// SPDX-License-Identifier: Apache-2.0
// Participants that share CPUs know which of them comes last, once they have stayed where they are for a while.
#include "waiting/last_of_cpu.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// Participants in the order in which they arrive, each on a CPU.
struct Party {
    std::array<std::uint64_t, 2> words{};
    std::vector<std::uint32_t> cpus;
    std::vector<LastOfCpu> views = std::vector<LastOfCpu>(cpus.size());

    /// Has all arrive; gives who is last.
    std::vector<bool> meet(Episode episode) {
        std::vector<bool> last;
        for (std::size_t i = 0; i < cpus.size(); ++i) {
            views[i].arrive(words[cpus[i] % words.size()], cpus[i], episode);
            last.push_back(static_cast<bool>(views[i]));
        }
        return last;
    }

    /// The first episode from `begin` on in which somebody is last.
    Episode first_with_a_last(Episode begin) {
        Episode episode = begin;
        while (meet(episode) == std::vector<bool>(cpus.size(), false)) ++episode;
        return episode;
    }
};

}  // namespace

TEST_CASE("the last participant of each CPU is known once all have stayed where they are") {
    for (const Episode begin : {Episode{1}, (Episode{1} << 32) - 10}) {
        Party party{.cpus = {0, 1, 0, 1, 1}};
        const Episode known = party.first_with_a_last(begin);
        CHECK(known == begin + 1 + LastOfCpu::settled);
        CHECK(party.meet(known + 1) == std::vector{false, false, true, false, true});
    }
}

TEST_CASE("a participant that moves makes nobody the last on either CPU for a while") {
    Party party{.cpus = {0, 1, 0, 1}};
    const Episode moved = party.first_with_a_last(1) + 1;
    party.cpus[0] = 1;
    party.meet(moved);  // those of its new CPU cannot know yet
    const Episode known = party.first_with_a_last(moved + 1);
    CHECK(known == moved + 1 + LastOfCpu::settled);
    CHECK(party.meet(known + 1) == std::vector{false, false, true, true});
}

TEST_CASE("the last of two CPUs that share a word is the last of both") {
    Party party{.cpus = {0, 2, 0, 2}};
    const Episode known = party.first_with_a_last(1);
    CHECK(party.meet(known + 1) == std::vector{false, false, false, true});
}

TEST_CASE("nobody is the last where participants of two groups share a CPU") {
    Party party{.cpus = {0, 1, 0, 1}};
    for (const std::size_t other : {1U, 2U}) party.views[other] = LastOfCpu(2);
    party.views[3] = LastOfCpu(2);
    const Episode known = party.first_with_a_last(1);
    CHECK(party.meet(known + 1) == std::vector{false, false, false, true});
}

TEST_CASE("a participant that skips episodes is not the last") {
    Party party{.cpus = {0, 0}};
    const Episode known = party.first_with_a_last(1);
    CHECK(party.meet(known + 2) == std::vector{false, false});
}
