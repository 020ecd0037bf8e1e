// SPDX-License-Identifier: Apache-2.0
// Harnesses of threads and of processes for the toll check, and what they are checked with.
#pragma once

#include "transports/desk_harness.hpp"
#include "transports/visitor.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>
#include <tollbar/participant.hpp>

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tollbar::testing {

/// How many times less is run with sanitizers or under an emulator, where each step costs that much more.
inline constexpr std::uint32_t slowness = TOLLBAR_SANITIZED || *TOLLBAR_EMULATOR != '\0' ? 20 : 1;

/// Spinning with more ranks than CPUs gets on by a time slice a step.
inline bool gets_on_slowly(wait_policy wait, Rank ranks) {
    return wait == wait_policy::spin && ranks > detail::usable_cpus();
}

/// Tells what `action` threw, "" if nothing.
template <class Action>
std::string thrown_by(Action action) {
    try {
        action();
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// A group's name that no other process of these tests has, and where a group of that name lies.
inline std::string unique(const std::string& name) { return name + "." + std::to_string(getpid()); }
inline std::string path_of(const std::string& name) {
    return "/dev/shm/tollbar." + std::to_string(geteuid()) + "." + name;
}

inline std::vector<Rank> ranks_of(const std::vector<absent>& missing) {
    std::vector<Rank> ranks;
    for (const absent& one : missing) ranks.push_back(one.rank);
    return ranks;
}

/// tollbar::participant as the suite wants it.
class GroupMember {
public:
    explicit GroupMember(participant self) : self_(std::move(self)) {}

    void arrive() { self_.arrive(); }
    bool test() { return self_.test(); }
    void wait() { self_.wait(); }
    void arrive_and_wait() { self_.arrive_and_wait(); }
    bool wait_for(std::chrono::milliseconds limit) { return static_cast<bool>(self_.wait_for(limit)); }
    std::vector<Rank> missing() const { return ranks_of(self_.missing()); }

private:
    participant self_;
};

inline void serve(group& group, Board& board, Rank rank) {
    Visitor(GroupMember(group.join(rank)), board, rank).serve();
}

/// A thread for every rank.
class ThreadHarness : public DeskHarness {
public:
    explicit ThreadHarness(group group) : DeskHarness(group.ranks()), group_(std::move(group)) {
        for (Rank rank = 0; rank < ranks(); ++rank)
            threads_.emplace_back([this, rank] { serve(group_, board_, rank); });
    }

    ~ThreadHarness() override {
        for (Rank rank = 0; rank < ranks(); ++rank) begin(rank, Call::stop);
        for (std::thread& thread : threads_) thread.join();
    }

    group& meeting_place() noexcept { return group_; }

private:
    bool alive(Rank) override { return true; }

    group group_;
    std::vector<std::thread> threads_;
};

/// A process for every rank; none outlives the test. No other thread may run while one is made.
class ProcessHarness : public DeskHarness {
public:
    /// What each process does with its rank and the board; serves it as a rule.
    using Body = std::function<void(Rank, Board&)>;

    ProcessHarness(Rank ranks, const Body& body) : DeskHarness(ranks), children_(ranks) {
        for (Rank rank = 0; rank < ranks; ++rank) hire(rank, body);
    }

    /// They share one group that was made before: {.scope = Scope::shared}.
    explicit ProcessHarness(group group)
        : ProcessHarness(group.ranks(), [&](Rank rank, Board& board) { serve(group, board, rank); }) {}

    ~ProcessHarness() override {
        for (Rank rank = 0; rank < ranks(); ++rank) {
            if (children_[rank] == 0) continue;
            begin(rank, Call::stop);
            waitpid(children_[rank], nullptr, 0);
        }
    }

    pid_t process(Rank rank) const noexcept { return children_[rank]; }

    /// Sends a signal to a rank's process, and waits until it shows.
    void signal(Rank rank, int number) {
        kill(children_[rank], number);
        siginfo_t info{};
        if (number == SIGSTOP) waitid(P_PID, static_cast<id_t>(children_[rank]), &info, WSTOPPED);
        if (number == SIGKILL) waitpid(std::exchange(children_[rank], 0), nullptr, 0);
    }

    Board& board() noexcept { return board_; }

private:
    void hire(Rank rank, const Body& body) {
        std::fflush(nullptr);  // lest the child says it again
        const pid_t child = fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            body(rank, board_);
            _exit(0);
        }
        children_[rank] = child;
    }

    bool alive(Rank rank) override {
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(children_[rank]), &info, WEXITED | WNOHANG | WNOWAIT);
        return info.si_pid == 0;
    }

    std::vector<pid_t> children_;
};

/// What a group of so many ranks can run: all of the catalogue but what is for special hardware, with several
/// parameters, and two levels.
inline std::vector<std::string> spellings(Rank ranks) {
    std::vector<std::string> all;
    for (const Algorithm& algorithm : catalogue())
        if (algorithm.runs_everywhere()) all.emplace_back(algorithm.name);
    for (const char* more :
         {"combining:2", "fway_tournament:3", "mcs:2,3", "dissemination:2", "dissemination:7",
          "central@2/dissemination", "mcs@4/pairwise", "combining:3@3/tournament", "turnstile@2/turnstile",
          "turnstile@3/dissemination", "central@2/turnstile", "combination:2/central"})
        all.emplace_back(more);
    for (Rank processors = 1; processors <= ranks && processors <= 4; ++processors)
        all.push_back("combination:" + std::to_string(processors));
    if (ranks >= 3) all.emplace_back("combination:3/mcs");
    return all;
}

inline constexpr wait_policy all_policies[] = {wait_policy::automatic, wait_policy::spin, wait_policy::yield,
                                               wait_policy::park};
inline constexpr Rank all_sizes[] = {1, 2, 3, 5, 8, 13};

}  // namespace tollbar::testing
