// SPDX-License-Identifier: Apache-2.0
// The card's protocol.h under the model checker: processors that handle frames, doubled, late and lost ones too, and
// the hosts' arrivals, all at the same time on the same words. Compiled once as it is and once for each mutant of it.
//
//     nic_model_original                               every situation is clean
//     nic_model_mutant_NAME TITLE SITUATION FINDING    that situation is not: FINDING is "left early" or "stuck"
#include "relacy_sync.hpp"

using toll_word = rl::atomic<std::uint64_t>;

static std::uint64_t toll_load(const toll_word* word) { return word->load(rl::mo_relaxed, RL_INFO); }

/// The kernel's: a full fence on both sides when it succeeds. Relaxed loads before it rely on that.
static std::uint64_t toll_swap(toll_word* word, std::uint64_t before, std::uint64_t after) {
    const std::uint64_t expected = before;
    tollbar::model::fence();
    word->compare_exchange(rl::bool_t<false>(), before, after, rl::mo_seq_cst, rl::mo_seq_cst, RL_INFO);
    if (before == expected) tollbar::model::fence();
    return before;
}

#include "transports/nic/protocol.h"
#include "runtime/steps.hpp"

#include <tollbar/algorithms.hpp>

#include <array>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace tollbar;
using namespace tollbar::model;

namespace {

constexpr std::uint64_t episodes = 3;
constexpr Effort effort{Search::random, 30'000};

struct Nic {
    toll_state state;
    toll_program program{};
    std::vector<toll_step> steps;
};

void reset(Nic& nic) {
    nic.state.at.store(toll_place(0, nic.program.steps), rl::mo_relaxed, RL_INFO);
    for (toll_word& word : nic.state.told) word.store(0, rl::mo_relaxed, RL_INFO);
    for (toll_word& word : nic.state.counted) word.store(0, rl::mo_relaxed, RL_INFO);
    nic.state.released.store(0, rl::mo_relaxed, RL_INFO);
}

/// Ranks 0 .. ranks-1 are hosts; one thread more is a network that delivers what was ever said again, in any order.
class Nics : public Scenario {
public:
    explicit Nics(Rank ranks) : ranks_(ranks), tolls_(ranks), nics_(ranks) {}

    void run(unsigned self) override {
        if (self == ranks_) return stray();
        for (std::uint64_t episode = 1; episode <= episodes; ++episode) {
            tolls_.pay(self, episode);
            arrive(self, episode);
            while (nics_[self].state.at.load(rl::mo_acquire, RL_INFO) !=
                   toll_place(episode, nics_[self].program.steps)) {
                ask_again(self, episode);
                RelacySync::yield();
            }
            tolls_.check(episode);
        }
    }

protected:
    virtual void arrive(Rank self, std::uint64_t episode) = 0;
    virtual void ask_again(Rank self, std::uint64_t episode) = 0;
    virtual void stray() = 0;

    static bool lost() { return rl::rand(4) == 0; }

    Rank ranks_;
    Tolls tolls_;
    std::vector<Nic> nics_;
};

/// The steps of a plan.
class Planned final : public Nics {
public:
    explicit Planned(const Plan& plan) : Nics(plan.ranks()) {
        for (Rank rank = 0; rank < ranks_; ++rank) {
            Nic& nic = nics_[rank];
            nic.steps = compile_steps(plan, rank);
            nic.program.steps = static_cast<toll_u32>(nic.steps.size());
            for (std::size_t s = 0; s < nic.steps.size(); ++s) {
                nic.program.tells |= static_cast<toll_u32>(nic.steps[s].to != TOLLBAR_NOBODY) << s;
                nic.program.awaits |= static_cast<toll_u32>(nic.steps[s].from != TOLLBAR_NOBODY) << s;
            }
            reset(nic);
        }
        sent_.resize(std::size_t{ranks_} * toll_nic_steps);
        for (auto& word : sent_) word = std::make_unique<rl::atomic<std::uint64_t>>(0);
    }

private:
    void arrive(Rank self, std::uint64_t episode) override {
        Nic& nic = nics_[self];
        if (!toll_enter(&nic.state, &nic.program, episode)) return;
        toll_u64 now = episode;
        const toll_u32 due = (nic.program.tells & 1) | toll_advance(&nic.state, &nic.program, episode, &now);
        emit(self, due, now);
    }

    /// A message of a step may leave once the step is entered, and leaves once an episode.
    void emit(Rank self, toll_u32 due, std::uint64_t episode) {
        for (std::size_t step = 0; step < nics_[self].steps.size(); ++step) {
            if ((due >> step & 1) == 0) continue;
            const std::uint64_t place = nics_[self].state.at.load(rl::mo_relaxed, RL_INFO);
            RL_ASSERT(!toll_newer(toll_place(episode, static_cast<toll_u32>(step)), place));
            auto& sent = *sent_[self * toll_nic_steps + step];
            RL_ASSERT(sent.exchange(episode, rl::mo_acq_rel, RL_INFO) == episode - 1);
            if (!lost()) deliver(self, step, episode);
        }
    }

    void deliver(Rank self, std::size_t step, std::uint64_t episode) {
        const toll_step& told = nics_[self].steps[step];
        Nic& nic = nics_[told.to];
        const toll_u64 now = toll_episode_of(toll_load(&nic.state.at));
        if (toll_newer(episode, now + 1)) return;
        toll_record(&nic.state.told[told.to_step], episode);
        toll_u64 after = episode;
        const toll_u32 due = toll_advance(&nic.state, &nic.program, episode, &after);
        emit(told.to, due, after);
    }

    /// What the awaited peer's NIC answers: its message again if it is past that step.
    void ask_again(Rank self, std::uint64_t episode) override {
        const toll_u64 place = toll_load(&nics_[self].state.at);
        const toll_u32 step = toll_step_of(place);
        if (step >= nics_[self].steps.size() || nics_[self].steps[step].from == TOLLBAR_NOBODY) return;
        const toll_step& awaited = nics_[self].steps[step];
        Nic& peer = nics_[awaited.from];
        if (toll_newer(toll_place(episode, awaited.from_step), peer.state.at.load(rl::mo_acquire, RL_INFO))) return;
        deliver(awaited.from, awaited.from_step, episode);
    }

    void stray() override {
        for (int frame = 0; frame < 6; ++frame) {
            const Rank self = rl::rand(ranks_);
            const std::size_t step = rl::rand(static_cast<unsigned>(nics_[self].steps.size()));
            if (nics_[self].steps[step].to == TOLLBAR_NOBODY) continue;
            const std::uint64_t newest = sent_[self * toll_nic_steps + step]->load(rl::mo_acquire, RL_INFO);
            if (newest != 0) deliver(self, step, 1 + rl::rand(static_cast<unsigned>(newest)));
            RelacySync::yield();
        }
    }

    std::vector<std::unique_ptr<rl::atomic<std::uint64_t>>> sent_;  ///< by rank and step: the newest episode told
};

/// Rank 0's NIC counts.
class Counted final : public Nics {
public:
    explicit Counted(Rank ranks) : Nics(ranks) {
        for (Nic& nic : nics_) {
            nic.program = {.steps = 1, .tells = 0, .awaits = 1};
            reset(nic);
        }
        entered_.resize(ranks);
        for (auto& word : entered_) word = std::make_unique<rl::atomic<std::uint64_t>>(0);
    }

private:
    void arrive(Rank self, std::uint64_t episode) override {
        if (!toll_enter(&nics_[self].state, &nics_[self].program, episode)) return;
        entered_[self]->store(episode, rl::mo_release, RL_INFO);
        if (self == 0 || !lost()) gather(self, episode);
    }

    void gather(Rank source, std::uint64_t episode) {
        toll_state& root = nics_[0].state;
        const toll_u64 released = root.released.load(rl::mo_acquire, RL_INFO);
        if (toll_newer(episode, released + 1)) return;
        if (!toll_newer(episode, released)) return release(source, released);
        if (toll_count(&root, ranks_, source, episode) == 0) return;
        for (Rank rank = 0; rank < ranks_; ++rank)
            if (rank == 0 || !lost()) release(rank, episode);
    }

    void release(Rank rank, std::uint64_t episode) {
        Nic& nic = nics_[rank];
        if (toll_newer(episode, toll_episode_of(toll_load(&nic.state.at)))) return;
        toll_record(&nic.state.told[0], episode);
        toll_u64 now = episode;
        toll_advance(&nic.state, &nic.program, episode, &now);
    }

    void ask_again(Rank self, std::uint64_t episode) override { gather(self, episode); }

    void stray() override {
        for (int frame = 0; frame < 6; ++frame) {
            const Rank source = rl::rand(ranks_);
            const std::uint64_t newest = entered_[source]->load(rl::mo_acquire, RL_INFO);
            if (newest != 0) gather(source, 1 + rl::rand(static_cast<unsigned>(newest)));
            RelacySync::yield();
        }
    }

    std::vector<std::unique_ptr<rl::atomic<std::uint64_t>>> entered_;
};

/// Two processes come as the same rank, one after a kill perhaps, and a network says their questions again. One of them
/// is admitted, never both, and what its host enters meanwhile is told once it is.
class Admission final : public Scenario {
public:
    static constexpr unsigned network = 2;

    Admission() {
        for (Process& one : processes_) {
            one.nic.program = {.steps = 1, .tells = 1, .awaits = 1};
            reset(one.nic);
        }
    }

    void run(unsigned self) override {
        if (self == network) return stray();
        Process& mine = processes_[self];
        mine.asks.store(1, rl::mo_release, RL_INFO);
        RL_ASSERT(toll_enter(&mine.nic.state, &mine.nic.program, 1));
        if (toll_load(&mine.incarnation) != 0) mine.told.store(1, rl::mo_release, RL_INFO);
        while (ask(self) && mine.told.load(rl::mo_acquire, RL_INFO) == 0) RelacySync::yield();
    }

private:
    static constexpr std::uint64_t of_group = 99;

    struct Process {
        Nic nic;
        toll_word incarnation{0};
        rl::atomic<std::uint64_t> asks{0};
        rl::atomic<std::uint64_t> told{0};
    };

    /// The question, and its answer, on one processor each; false when it is refused.
    bool ask(unsigned process) {
        Process& one = processes_[process];
        if (!toll_admit(&place_, 11 + process)) {
            RL_ASSERT(admitted_.load(rl::mo_seq_cst, RL_INFO) != process + 1);
            return false;
        }
        const std::uint64_t before = admitted_.exchange(process + 1, rl::mo_seq_cst, RL_INFO);
        RL_ASSERT(before == 0 || before == process + 1);
        if (toll_load(&one.incarnation) != 0) return true;  // a welcome says nothing new
        const toll_u64 place = toll_begin(&one.incarnation, of_group, &one.nic.state);
        if (toll_step_of(place) < one.nic.program.steps) one.told.store(1, rl::mo_release, RL_INFO);
        return true;
    }

    void stray() {
        for (int frame = 0; frame < 4; ++frame) {
            const unsigned process = rl::rand(2);
            if (processes_[process].asks.load(rl::mo_acquire, RL_INFO) != 0) ask(process);
            RelacySync::yield();
        }
    }

    std::array<Process, 2> processes_;
    toll_word place_{0};  ///< of whoever admits them
    rl::atomic<std::uint64_t> admitted_{0};
};

struct Situation {
    unsigned threads;
    MakeScenario make;
};

const std::map<std::string, Situation>& situations() {
    static const std::map<std::string, Situation> all{
        {"exchange", {3, [] { return std::make_unique<Planned>(make_plan("pairwise", 2)); }}},
        {"folded", {4, [] { return std::make_unique<Planned>(make_plan("pairwise", 3)); }}},
        {"tree", {4, [] { return std::make_unique<Planned>(make_plan("mcs", 3)); }}},
        {"admission", {3, [] { return std::make_unique<Admission>(); }}},
        {"counted", {4, [] { return std::make_unique<Counted>(3); }}},
    };
    return all;
}

}  // namespace

int main(int count, char** arguments) try {
    if (count == 1) {
        bool all_clean = true;
        for (const auto& [name, situation] : situations())
            all_clean &= finds(Finding::clean, "card: " + name, situation.threads, situation.make, effort);
        return all_clean ? 0 : 1;
    }
    for (const Finding finding : {Finding::unpaid, Finding::stuck}) {
        if (count != 4 || name(finding) != std::string_view(arguments[3])) continue;
        const Situation& situation = situations().at(arguments[2]);
        const std::string title = std::string("mutant: ") + arguments[1] + ", " + arguments[2];
        return finds(finding, title, situation.threads, situation.make, effort) ? 0 : 1;
    }
    std::cerr << "usage: " << arguments[0] << " [TITLE SITUATION 'left early'|stuck]\n";
    return 2;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
