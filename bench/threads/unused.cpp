// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-unused: what the features that nobody uses cost an episode. The same program is run by participants
// (seat, arrived word, time-outs, missing()) and by bare runners on words of their own, in turns, by the same threads.
#include "barriers.hpp"
#include "launch.hpp"
#include "transports/words/layout.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>
#include <tollbar/detail/words.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace tollbar::bench {

namespace {

constexpr std::size_t pairs = 60;      // of batches, in a round
constexpr std::uint64_t batch = 2000;  // episodes, back to back
constexpr std::uint64_t warm_up = 10 * batch;

/// The words of a layout and nothing else. Only for threads that have a CPU each.
class BareBarrier {
public:
    using Step = WordStep<NativeSync>;

    struct Seat {
        Runner<Words<NativeSync>> runner;
        void episode() noexcept {
            runner.start();
            if (!runner.advance()) runner.finish(Never{});
        }
    };

    BareBarrier(const Layout& layout, Waking waking)
        : waking_(waking), lines_(layout.lines), sleepers_(layout.sleepers) {
        for (std::size_t rank = 0; rank + 1 < layout.first.size(); ++rank) {
            std::vector<Step>& steps = programs_.emplace_back();
            for (std::uint32_t i = layout.first[rank]; i < layout.first[rank + 1]; ++i) {
                const PlacedStep& placed = layout.steps[i];
                Line& line = lines_[placed.word / Layout::words_a_line];
                steps.push_back({.word = &line.words[placed.word % Layout::words_a_line],
                                 .sleepers = &sleepers_[placed.sleepers],
                                 .share = placed.share,
                                 .skip = placed.skip,
                                 .kind = placed.kind,
                                 .between_processors = placed.between_processors});
            }
        }
    }

    Seat seat(Rank rank) {
        const std::vector<Step>& steps = programs_[rank];
        return {{steps.data(), static_cast<std::uint32_t>(steps.size()), 0, {wait_policy::automatic, waking_, roomy_}}};
    }

private:
    struct alignas(line_bytes) Line {
        std::array<Word<NativeSync>, Layout::words_a_line> words{};
    };

    Waking waking_;
    alignas(line_bytes) Words<NativeSync>::OccupancyWord roomy_{Occupancy::exclusive};
    std::vector<Line> lines_;
    std::vector<Sleepers<NativeSync>> sleepers_;
    std::vector<std::vector<Step>> programs_;
};

using Periods = std::array<double, pairs>;

template <class Seat>
double period(Seat& seat, std::uint64_t episodes) {
    const Ticks start = ticks();
    for (std::uint64_t i = 0; i < episodes; ++i) seat.episode();
    return nanoseconds(ticks() - start) / static_cast<double>(episodes);
}

void compare(Crew& crew, std::uint32_t round, const Label& label, Waking waking) {
    GroupBarrier group(crew.ranks(), label.name, wait_policy::automatic);
    BareBarrier bare(lay_out(make_plan(label.name, crew.ranks())), waking);
    Periods with{};
    Periods without{};
    crew.run([&](Rank rank) {
        auto participant = group.seat(rank);
        auto runner = bare.seat(rank);
        Periods ours_with{};
        Periods ours_without{};
        period(participant, warm_up);
        period(runner, warm_up);
        for (std::size_t i = 0; i < pairs; ++i) {
            if (i % 2 == 0) ours_with[i] = period(participant, batch);
            ours_without[i] = period(runner, batch);
            if (i % 2 == 1) ours_with[i] = period(participant, batch);
        }
        if (rank == 0) {
            with = ours_with;
            without = ours_without;
        }
    });
    Record<"unused">(label, round)
        .field("episodes", batch)
        .field("participant_ns", with)
        .field("bare_ns", without)
        .print();
}

int measure(Launch& launch) {
    launch.refuse_names();
    launch.begin();
    const Rank ranks = launch.options.ranks;
    const bool roomy = ranks <= std::min(tollbar::detail::usable_cpus(), quota_cpus());
    if (!roomy) print_skipped("unused", "a nanosecond cannot be seen without a CPU for every thread");
    // As a group rings when everybody has a CPU.
    const Waking waking{.asymmetric = roomy && NativeSync::register_for_heavy_fence()};
    ThreadCrew crew(ranks, launch.places());
    return Rounds(launch, crew).run([&](std::uint32_t round) {
        if (!roomy) return true;
        compare(crew, round, {"turnstile", "turnstile"}, waking);
        compare(crew, round, {"dissemination", "plan"}, waking);
        return true;
    });
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-unused", .measure = measure}, count, words);
}
