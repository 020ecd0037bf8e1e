// SPDX-License-Identifier: Apache-2.0
// tollbar's own barriers on simulated caches: the runner over any plan's words, and the turnstile.
#include "barriers.hpp"
#include "sync.hpp"

#include "transports/words/layout.hpp"
#include "transports/words/slots.hpp"
#include "tuner/tuning.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/unranked.hpp>
#include <tollbar/detail/words.hpp>

#include <map>
#include <string_view>

namespace tollbar::cores {

using namespace detail;

namespace {

using Sync = SimulatedSync;

/// The word alone, without the looks at how to wait, which cost a core nothing: it looks while the word is on its way.
class OneWord final : public Barrier {
public:
    explicit OneWord(std::size_t threads) : turnstile_(threads) {}

    void episode(Thread) override {
        const std::uint64_t target = turnstile_.arrive(1);
        turnstile_.wait(target, {.spins = WaitBudget::for_ever, .yields = 0}, Never{});
    }

private:
    Turnstile<Sync> turnstile_;
};

/// All that tollbar::barrier does, at one word or at leaves, without the checks of TOLLBAR_CHECKED.
class WithoutRanks final : public Barrier {
public:
    WithoutRanks(std::size_t threads, std::unique_ptr<Leaves<Sync>> leaves) : threads_(threads, leaves.release()) {}

    void episode(Thread) override { threads_.arrive_and_wait<false>(Nothing{}); }

private:
    Unranked<Sync> threads_;
};

class PlanWords final : public Barrier {
public:
    /// Rank r does what rank `slot_of[r]` of the plan does, where that says anything.
    explicit PlanWords(const Layout& layout, std::vector<Rank> slot_of = {})
        : lines_(layout.lines), sleepers_(layout.sleepers), slot_of_(std::move(slot_of)) {
        for (const PlacedStep& step : layout.steps)
            steps_.push_back({.word = &lines_[step.word / Layout::words_a_line].words[step.word % Layout::words_a_line],
                              .sleepers = &sleepers_[step.sleepers],
                              .share = step.share,
                              .skip = step.skip,
                              .kind = step.kind,
                              .between_processors = step.between_processors});
        const Waking waking{.asymmetric = true};
        for (std::size_t rank = 0; rank + 1 < layout.first.size(); ++rank)
            runners_.emplace_back(steps_.data() + layout.first[rank], layout.first[rank + 1] - layout.first[rank], 0,
                                  Words<Sync>(wait_policy::spin, waking, occupancy_.word));
    }

    void episode(Thread self) override {
        Runner<Words<Sync>>& runner = runners_[slot_of_.empty() ? self : slot_of_[self]];
        runner.start();
        runner.finish(Never{});
    }

private:
    struct alignas(line_bytes) Words_ {
        Word<Sync> words[Layout::words_a_line];
    };
    struct alignas(line_bytes) Crowded {
        Atomic<Occupancy> word{Occupancy::exclusive};
    };

    std::vector<Words_> lines_;
    std::vector<Sleepers<Sync>> sleepers_;
    std::vector<Rank> slot_of_;
    std::vector<WordStep<Sync>> steps_;
    Crowded occupancy_;
    std::vector<Runner<Words<Sync>>> runners_;
};

/// The threads of each cluster.
Groups clusters_of(const Cores& team) {
    std::map<std::uint32_t, std::vector<Rank>> members;
    for (Rank rank = 0; rank < team.size(); ++rank) members[team[rank].cluster].push_back(rank);
    Groups groups;
    for (auto& [cluster, ranks] : members) groups.push_back(std::move(ranks));
    return groups;
}

/// The plan of a group of pinned threads that may use exactly the cores of the team; its threads join in order.
Made make_default(const Cores& team, const Machine& machine) {
    const auto ranks = static_cast<Rank>(team.size());
    const Clusters clusters = clusters_of(team, machine);
    const Choice choice = default_choice({.ranks = ranks, .cpus = ranks, .pinned = true}, clusters);
    const SlotGroups slot_groups{.groups = choice.groups, .neighbours = choice.neighbours};
    std::vector<Slot> slots(slot_groups.groups == 0 ? 0 : ranks);
    std::vector<Rank> slot_of;
    for (Rank rank = 0; rank < slots.size(); ++rank)
        slot_of.push_back(take_slot(slots, slot_groups, rank, team[rank].cluster, clusters));
    return std::make_unique<PlanWords>(lay_out(make_plan(choice.plan, ranks)), slot_of);
}

/// As leaves_for() has it.
std::unique_ptr<Leaves<Sync>> make_leaves(const Cores& team, const Machine& machine) {
    std::map<std::uint32_t, std::uint32_t> cores;
    for (const Core& core : machine.cores) ++cores[core.cluster];
    std::uint32_t most_of_one_word = 10;
    for (const auto& [cluster, count] : cores)
        if (machine.clusters_cache && count >= 4 && count <= 12) most_of_one_word = count;
    if (team.size() <= most_of_one_word) return nullptr;
    const LeafShape shape = leaves_of(team.size(), groups_of(clusters_of(team, machine)));
    return std::make_unique<Leaves<Sync>>(shape.sizes, shape.groups);
}

}  // namespace

Clusters clusters_of(const Cores& team, const Machine& machine) {
    std::map<std::uint32_t, std::uint32_t> cores;
    for (const Core& core : team) ++cores[core.cluster];
    Clusters clusters{.all = {}, .caches = machine.clusters_cache};
    for (const auto& [number, count] : cores) clusters.all.push_back({.number = number, .cores = count, .cpus = count});
    return clusters;
}

Made make_own(const std::string& spelling, const Cores& team, const Machine& machine) {
    constexpr std::string_view combination = "combination";
    if (spelling == "tollbar::barrier") return std::make_unique<WithoutRanks>(team.size(), make_leaves(team, machine));
    if (spelling == "one-word") return std::make_unique<OneWord>(team.size());
    if (spelling == "auto") return make_default(team, machine);
    if (spelling == combination || spelling.rfind("combination/", 0) == 0) {
        const std::string among = spelling == combination ? "dissemination" : spelling.substr(combination.size() + 1);
        const Plan plan = make_plan("turnstile/" + among, clusters_of(team));
        return std::make_unique<PlanWords>(lay_out(plan, Player::last, RolesAre::processors));
    }
    return std::make_unique<PlanWords>(lay_out(make_plan(spelling, static_cast<Rank>(team.size()))));
}

}  // namespace tollbar::cores
