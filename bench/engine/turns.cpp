// SPDX-License-Identifier: Apache-2.0
// Rounds of turns: every candidate under every workload, in an order drawn anew, each for the same time.
#include "turns.hpp"

#include "floors.hpp"
#include "launch.hpp"

#include <ctime>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace tollbar::bench {

namespace {

double cpu_us() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

class TurnRounds {
public:
    TurnRounds(const Launch& launch, Crew& crew, Roster& roster)
        : launch_(launch), crew_(crew), roster_(roster), rounds_(launch, crew) {
        for (const auto& one : roster.candidates)
            for (const Work& work : launch.options.work)
                if (!left_out(*one)) visits_.emplace_back(one.get(), &work);
    }

    int run() {
        for (const Skipped& one : roster_.skipped) print_skipped(one.name, one.why);
        for (const auto& one : roster_.candidates)
            if (left_out(*one))
                print_skipped(one->label().name,
                              "it never gives its CPU away and there are more ranks than CPUs (--quick)",
                              one->label().wait);
        return rounds_.run([&](std::uint32_t round) {
            if (launch_.options.scheduling) {
                rounds_.floors(round);
                print_scheduling(measure_scheduling(launch_.cpus.front()), round);
            }
            rounds_.shuffle(visits_);
            return std::all_of(visits_.begin(), visits_.end(),
                               [&](const auto& each) { return visit(*each.first, *each.second, round); });
        });
    }

private:
    bool left_out(Candidate& one) const {
        return launch_.options.depth == Depth::quick && is_lost(one.label(), launch_.crowded());
    }

    bool visit(Candidate& one, const Work& work, std::uint32_t round) {
        Workload workload = work.workload;
        workload.seed = launch_.options.seed + round;
        Turns turns(launch_.options.turns_ns, steps_per_us_);
        const std::unique_ptr<Visit> visit = crew_.visit(launch_.pace, 1);
        visit->workload = &workload;
        visit->turns = &turns;
        one.receive(crew_, *visit);
        const Samples samples = visit->stamps.evaluate(visit->stamping.stamped);
        if (!sound(samples, one.label(), round)) return false;
        Record<"turns"> record(one.label(), round);
        record.field("workload", work.spelling)
            .field("turns", turns.timed)
            .field("elapsed_ns", turns.elapsed_ns)
            .field("cpu_ns", turns.usage.cpu_ns)
            .field("voluntary", turns.usage.voluntary)
            .field("involuntary", turns.usage.involuntary);
        if (const auto between_ns = turns.between_ns(samples, visit->stamping.stamped))
            record.field("between_ns", *between_ns);
        record.print();
        return true;
    }

    const Launch& launch_;
    Crew& crew_;
    Roster& roster_;
    Rounds rounds_;
    const double steps_per_us_ = measured_steps_per_us();
    std::vector<std::pair<Candidate*, const Work*>> visits_;
};

}  // namespace

void take_steps(std::uint64_t steps) noexcept {
    std::uint64_t state = 88172645463325252;
    for (; steps > 0; --steps) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        asm volatile("" : "+r"(state));  // every step is taken
    }
}

double measured_steps_per_us() noexcept {
    constexpr std::uint64_t steps = 100'000;
    double most = 0;
    for (int i = 0; i < 5; ++i) {
        const double before = cpu_us();
        take_steps(steps);
        most = std::max(most, static_cast<double>(steps) / (cpu_us() - before));
    }
    return most;
}

int measure_turns(const Launch& launch, Crew& crew, Roster& roster) { return TurnRounds(launch, crew, roster).run(); }

}  // namespace tollbar::bench
