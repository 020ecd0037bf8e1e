// SPDX-License-Identifier: Apache-2.0
// wire/protocol.h under the model checker: processors that handle frames for NICs, doubled, late and lost ones too, and
// the hosts' arrivals, all at the same time on the same words; and members without a NIC, whose host handles its frames
// one by one. Compiled once as it is and once for each mutant of it.
//
//     nic_model_original                every situation is clean
//     mutant TITLE SITUATION FINDING    that situation is not: FINDING is "left early" or "stuck"
#include "model_members.hpp"

#include <tollbar/algorithms.hpp>

#include <array>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

constexpr std::uint64_t episodes = 3;
constexpr Effort effort{Search::random, 30'000};

/// Keeps what was ever said, loses some of it, and says it again at any time.
class Wire {
public:
    static bool lost() { return rl::rand(4) == 0; }

    void note(const toll_frame& frame) {
        mutex_.lock(RL_INFO);
        ever_.push_back(frame);
        mutex_.unlock(RL_INFO);
    }

    /// Any frame that was ever sent; false when there is none.
    bool any(toll_frame& frame) {
        mutex_.lock(RL_INFO);
        const bool found = !ever_.empty();
        if (found) frame = ever_[rl::rand(static_cast<unsigned>(ever_.size()))];
        mutex_.unlock(RL_INFO);
        return found;
    }

private:
    rl::mutex mutex_;
    Frames ever_;
};

/// Ranks 0 .. ranks-1 are hosts; one thread more is a network that delivers what was ever said again, in any order.
class Group : public Scenario {
public:
    /// `hosts` is the mask of members without a NIC.
    Group(const Plan& plan, unsigned hosts) : tolls_(plan.ranks()) {
        for (Rank rank = 0; rank < plan.ranks(); ++rank) {
            if ((hosts >> rank & 1) != 0)
                members_.push_back(std::make_unique<Host>(plan, rank));
            else
                members_.push_back(
                    std::make_unique<Nic>(rank, plan.ranks(), compile_steps(plan, rank), of_group, true));
        }
    }

    /// Rank 0's NIC counts.
    explicit Group(Rank ranks) : tolls_(ranks) {
        for (Rank rank = 0; rank < ranks; ++rank)
            members_.push_back(std::make_unique<Nic>(rank, ranks, std::vector<toll_step>(), of_group, true));
    }

    void run(unsigned self) override {
        if (self == members_.size()) return stray();
        for (std::uint64_t episode = 1; episode <= episodes; ++episode) {
            tolls_.pay(self, episode);
            deliver(members_[self]->enter(episode));
            while (!members_[self]->over(episode)) {
                deliver(members_[self]->ask_again(episode));
                RelacySync::yield();
            }
            tolls_.check(episode);
        }
    }

private:
    void deliver(const Frames& frames) {
        for (const toll_frame& frame : frames) {
            wire_.note(frame);
            if (!Wire::lost()) deliver(members_[toll_net16(frame.destination)]->hear(frame));
        }
    }

    void stray() {
        toll_frame frame;
        for (int i = 0; i < 6; ++i) {
            if (wire_.any(frame)) deliver(members_[toll_net16(frame.destination)]->hear(frame));
            RelacySync::yield();
        }
    }

    Tolls tolls_;
    Wire wire_;
    std::vector<std::unique_ptr<Member>> members_;
};

/// Two processes come as the same rank, one after a kill perhaps, and a network says their questions again. One of them
/// is admitted, never both, and what its host enters meanwhile is signalled once it is.
class Admission final : public Scenario {
public:
    static constexpr unsigned network = 2;

    /// Rank 0, which admits, has a NIC or is a host.
    explicit Admission(bool by_host) {
        const Plan plan = make_plan("pairwise", 2);
        if (by_host)
            admits_ = std::make_unique<Host>(plan, 0);
        else
            admits_ = std::make_unique<Nic>(0, 2, compile_steps(plan, 0), of_group, true);
        for (unsigned process = 0; process < 2; ++process)
            processes_[process].nic = std::make_unique<Nic>(1, 2, compile_steps(plan, 1), 11 + process, false);
    }

    void run(unsigned self) override {
        if (self == network) return stray();
        Process& mine = processes_[self];
        for (const toll_frame& question : mine.nic->join()) wire_.note(question);  // may be answered at any time
        up(self, mine.nic->enter(1));
        while (mine.refused.load(rl::mo_acquire, RL_INFO) == 0 && mine.signalled.load(rl::mo_acquire, RL_INFO) == 0) {
            up(self, mine.nic->join());
            RelacySync::yield();
        }
    }

private:
    struct Process {
        std::unique_ptr<Nic> nic;
        rl::atomic<std::uint64_t> refused{0};
        rl::atomic<std::uint64_t> signalled{0};
    };

    /// From a process to rank 0, whose answers come back.
    void up(unsigned process, const Frames& frames) {
        for (const toll_frame& frame : frames) {
            if (frame.kind != toll_join) {
                RL_ASSERT(frame.kind == toll_signal);
                processes_[process].signalled.store(1, rl::mo_release, RL_INFO);
                continue;
            }
            wire_.note(frame);
            for (const toll_frame& answer : admits_->hear(frame)) down(answer);
        }
    }

    void down(const toll_frame& answer) {
        if (answer.incarnation != 11 && answer.incarnation != 12) return;
        const auto process = static_cast<unsigned>(answer.incarnation - 11);
        if (answer.kind == toll_refuse) {
            RL_ASSERT(admitted_.load(rl::mo_seq_cst, RL_INFO) != process + 1);
            processes_[process].refused.store(1, rl::mo_release, RL_INFO);
        }
        if (answer.kind == toll_welcome) {
            const std::uint64_t before = admitted_.exchange(process + 1, rl::mo_seq_cst, RL_INFO);
            RL_ASSERT(before == 0 || before == process + 1);
        }
        up(process, processes_[process].nic->hear(answer));
    }

    void stray() {
        toll_frame frame;
        for (int i = 0; i < 4; ++i) {
            if (wire_.any(frame)) up(static_cast<unsigned>(frame.incarnation - 11), {frame});
            RelacySync::yield();
        }
    }

    std::unique_ptr<Member> admits_;
    std::array<Process, 2> processes_;
    Wire wire_;
    rl::atomic<std::uint64_t> admitted_{0};
};

struct Situation {
    unsigned threads;
    MakeScenario make;
};

/// A plan whose members are NICs, but for those of the mask.
Situation planned(const char* spelling, Rank ranks, unsigned hosts) {
    return {ranks + 1, [=] { return std::make_unique<Group>(make_plan(spelling, ranks), hosts); }};
}

const std::map<std::string, Situation>& situations() {
    static const std::map<std::string, Situation> all{
        {"exchange", planned("pairwise", 2, 0)},
        {"folded", planned("pairwise", 3, 0)},
        {"tree", planned("mcs", 3, 0)},
        {"exchange_with_a_host", planned("pairwise", 2, 0b10)},
        {"folded_with_a_host", planned("pairwise", 3, 0b010)},
        {"tree_below_a_host", planned("mcs", 3, 0b001)},
        {"hosts", planned("mcs", 3, 0b111)},
        {"admission", {3, [] { return std::make_unique<Admission>(false); }}},
        {"admission_by_a_host", {3, [] { return std::make_unique<Admission>(true); }}},
        {"counted", {4, [] { return std::make_unique<Group>(3); }}},
    };
    return all;
}

}  // namespace

int main(int count, char** arguments) try {
    if (count == 1) {
        bool all_clean = true;
        for (const auto& [name, situation] : situations())
            all_clean &= finds(Finding::clean, "wire: " + name, situation.threads, situation.make, effort);
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
