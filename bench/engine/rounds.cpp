// SPDX-License-Identifier: Apache-2.0
// A launch: rounds in which the floors and then all candidates, in an order drawn anew, are measured once each.
#include "launch.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace tollbar::bench {

namespace {

constexpr double too_slow_ns = 6e6;  // an episode; then only every so many rounds
constexpr std::uint32_t slow_rounds = 8;
constexpr std::uint64_t episodes_of_a_crowded_spinner = 3;
constexpr double share_of_crowded_spinners = 0.2;  // of the time budget
constexpr double work_ns = 20e6;                   // of computing that is timed at once, unless --batch-us says else
constexpr std::uint64_t fewest_runs = 3, most_runs = 10000;
constexpr double never_ns = 1e18;           // where a number of runs or episodes is given, they are all made
constexpr std::size_t most_printed = 1000;  // of episodes whose number is given: their means are what was wanted

/// Everything known of a candidate from earlier rounds.
struct Known {
    std::uint64_t episodes = 0;                                  ///< in the next batch; 0: to be calibrated
    double period_ns = std::numeric_limits<double>::infinity();  ///< the shortest so far: some have two speeds
};

class RosterRounds {
public:
    RosterRounds(const Launch& launch, Crew& crew, Roster& roster)
        : crew_(crew), roster_(roster), options_(launch.options), pace_(launch.pace),
          crowded_(crew.ranks() > launch.cpus.size()), rounds_(launch, crew) {
        for (const auto& one : roster.candidates) order_.push_back(one.get());
    }

    int run() {
        for (const Skipped& one : roster_.skipped) print_skipped(one.name, one.why);
        return rounds_.run([&](std::uint32_t round) { return run_round(round); });
    }

private:
    bool run_round(std::uint32_t round) {
        rounds_.floors(round);
        rounds_.shuffle(order_);
        for (Candidate* one : order_) {
            const bool spinning = is_lost(one->label(), crowded_);
            if (!options_.work.empty()) {
                if (!spinning && !visit_working(*one, round)) return false;
                continue;
            }
            if (spinning ? !visit_spinner(*one, round) : !visit_polite(*one, round)) return false;
        }
        return true;
    }

    bool visit_polite(Candidate& one, std::uint32_t round) {
        Known& known = known_[&one];
        const bool slow = known.episodes != 0 && known.period_ns > too_slow_ns;
        if (slow && round % slow_rounds != 0) return true;
        Pace pace = pace_;
        if (slow) pace.warm_up = 0;
        const std::unique_ptr<Visit> visit = crew_.visit(pace, known.episodes);
        one.receive(crew_, *visit);
        known.period_ns = std::min(known.period_ns, visit->timing.period_ns());
        known.episodes = fitting(known.period_ns, pace_);
        return print_visit(one.label(), round, *visit);
    }

    /// Every episode costs time slices: a handful in the first round is all that the others can spare.
    bool visit_spinner(Candidate& one, std::uint32_t round) {
        if (round != 0) return true;
        const Label& label = one.label();
        if (options_.depth == Depth::quick) {
            print_skipped(label.name, "it never gives its CPU away and there are more ranks than CPUs (--quick)",
                          label.wait);
            return true;
        }
        if (crew_.agree(options_.budget_ns != 0 && spinners_ns_ > share_of_crowded_spinners * options_.budget_ns)) {
            print_skipped(label.name,
                          "it never gives its CPU away, there are more ranks than CPUs, and the share of the "
                          "time budget for such is used up",
                          label.wait);
            return true;
        }
        Pace pace = pace_;
        pace.warm_up = 0;
        pace.stamped = episodes_of_a_crowded_spinner;
        const Ticks start = ticks();
        const std::unique_ptr<Visit> visit = crew_.visit(pace, episodes_of_a_crowded_spinner);
        one.receive(crew_, *visit);
        spinners_ns_ += nanoseconds(ticks() - start);
        rounds_.spent_once(nanoseconds(ticks() - start));
        return print_visit(label, round, *visit);
    }

    /// Every rank draws the same times, so nothing but the number of runs has to be agreed on, and all know it.
    bool visit_working(Candidate& one, std::uint32_t round) {
        for (const Work& each : options_.work) {
            Workload workload = each.workload;
            const double run_ns = 1e3 * (workload.sum_us() + static_cast<double>(workload.compute_us.size()));
            const double batch_ns = options_.batch_ns != 0 ? options_.batch_ns : work_ns;
            const auto fitting_runs = static_cast<std::uint64_t>(batch_ns / run_ns);
            workload.runs = options_.runs != 0 ? options_.runs : std::clamp(fitting_runs, fewest_runs, most_runs);
            workload.seed = options_.seed;
            Pace pace = pace_;
            pace.cut_ns = options_.runs != 0 ? never_ns
                                             : 5 * std::max(batch_ns, static_cast<double>(fewest_runs) * run_ns);
            const std::unique_ptr<Visit> visit = crew_.visit(pace, workload.runs);
            visit->workload = &workload;
            visit->computing = options_.computing;
            one.receive(crew_, *visit);
            if (!sound(visit->stamps.evaluate(visit->stamping.stamped), one.label(), round)) return false;
            if (crew_.is_first()) write_profile(*visit);
            if (crew_.is_first()) print_work(one.label(), round, each.spelling, workload, visit->timing);
        }
        return true;
    }

    void print_work(const Label& label, std::uint32_t round, const std::string& spelling, const Workload& workload,
                    const Timing& timing) {
        const std::uint64_t phases = workload.compute_us.size();
        const double longest_us = workload.longest_us(crew_.ranks(), phases, phases * (1 + timing.timed));
        Record<"work">(label, round)
            .field("workload", spelling)
            .field("phases", phases)
            .field("runs", timing.timed)
            .field("elapsed_ns", timing.elapsed_ns)
            .field("computing_ns", 1e3 * workload.sum_us())
            .field("longest_ns", 1e3 * longest_us / static_cast<double>(timing.timed))
            .field("involuntary", timing.usage.involuntary)
            .field("cut", timing.cut)
            .print();
    }

    void write_profile(const Visit& visit) const {
        if (!options_.profile.empty()) visit.stamps.write_profile(visit.stamping.stamped, options_.profile);
    }

    /// False, and nothing but the violation, when somebody left early.
    bool print_visit(const Label& label, std::uint32_t round, Visit& visit) {
        Samples samples = visit.stamps.evaluate(visit.stamping.stamped);
        const Samples isolated = visit.isolated.evaluate(visit.stamping.isolated);
        if (!sound(samples, label, round) || !sound(isolated, label, round)) return false;
        print_batch(label, round, visit);
        write_profile(visit);
        if (options_.episodes != 0)
            for (std::vector<double>* of_episodes : {&samples.latency, &samples.skew, &samples.span, &samples.call})
                of_episodes->resize(std::min(of_episodes->size(), most_printed));
        Record<"episodes"> record(label, round);
        record.field("voluntary", visit.stamping.usage.voluntary)
            .field("involuntary", visit.stamping.usage.involuntary)
            .field("latency_ns", samples.latency)
            .field("skew_ns", samples.skew)
            .field("span_ns", samples.span)
            .field("inside_ns", samples.inside);
        if (options_.episodes != 0) record.field("inside_each_ns", samples.inside_each);
        if (visit.stamping.isolated != 0) record.field("call_ns", samples.call);
        record.print();
        if (visit.stamping.isolated != 0)
            Record<"isolated">(label, round)
                .field("latency_ns", isolated.latency)
                .field("skew_ns", isolated.skew)
                .field("span_ns", isolated.span)
                .print();
        return true;
    }

    void print_batch(const Label& label, std::uint32_t round, Visit& visit) {
        const Timing& timing = visit.timing;
        Usage usage = timing.usage;
        std::vector<double> of_ranks;
        if (visit.usage_of(0) != nullptr) {
            usage = {};
            for (Rank rank = 0; rank < crew_.ranks(); ++rank) {
                const Usage* one = visit.usage_of(rank);
                if (one == nullptr) continue;  // another thread's process
                usage = usage + *one;
                of_ranks.push_back(one->cpu_ns);
            }
        }
        Record<"batch"> record(label, round);
        record.field("episodes", timing.timed)
            .field("elapsed_ns", timing.elapsed_ns)
            .field("cpu_ns", usage.cpu_ns)
            .field("voluntary", usage.voluntary)
            .field("involuntary", usage.involuntary)
            .field("cut", timing.cut)
            .field("first_ns", timing.first_ns);
        if (!of_ranks.empty()) record.field("rank_cpu_ns", of_ranks);
        record.print();
    }

    Crew& crew_;
    Roster& roster_;
    const Options& options_;
    const Pace pace_;
    const bool crowded_;
    Rounds rounds_;
    std::vector<Candidate*> order_;
    std::map<const Candidate*, Known> known_;
    double spinners_ns_ = 0;
};

}  // namespace

bool sound(const Samples& samples, const Label& label, std::uint32_t round) {
    if (!samples.violation) return true;
    Record<"violation">(label, round)
        .field("episode", samples.violation->episode)
        .field("left", samples.violation->left)
        .field("missing", samples.violation->missing)
        .field("early_ns", samples.violation->early_ns)
        .print();
    return false;
}

Pace pace_for(const Options& options, std::size_t cpus) {
    const bool crowded = options.ranks * options.threads > cpus;
    Pace pace{};
    pace.batch_ns = options.batch_ns != 0 ? options.batch_ns : crowded ? 12e6 : 1e6;
    pace.cut_ns = std::max(60e6, 5 * pace.batch_ns);
    pace.most = 50000;  // two threads on one word need some thousand episodes to fall into step
    // Without pins two ranks may come to share a CPU in mid-batch, and then spin away a whole slice an episode: look
    // at the clock more often. Not too often: the look holds rank 0 up and costs a monotone word its rhythm.
    pace.chunk = !crowded && options.placement == Placement::free ? 100 : pace.most;
    pace.warm_up = crowded ? 2 : 100;
    pace.stamped = options.episodes != 0 ? options.episodes : 200;
    if (options.episodes != 0) pace.cut_ns = never_ns;
    return pace;
}

int measure_roster(const Launch& launch, Crew& crew, Roster& roster) {
    if (launch.options.checks()) return check_roster(launch, crew, roster);
    if (launch.options.turns_ns != 0) return measure_turns(launch, crew, roster);
    return RosterRounds(launch, crew, roster).run();
}

}  // namespace tollbar::bench
