// SPDX-License-Identifier: Apache-2.0
// A launch of a measuring program, from the command line to the closing record.
#pragma once

#include "candidate.hpp"
#include "cpus.hpp"
#include "options.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::bench {

/// The processes that a launcher has started together, as the ranks of an MPI. Each goes through the launch on its own.
class Peers {
public:
    virtual ~Peers() = default;
    virtual Rank rank() const noexcept = 0;
    virtual Rank ranks() const noexcept = 0;

    /// Rank 0's number, on every rank. Collective.
    virtual std::uint64_t told(std::uint64_t mine) const = 0;

    /// Whether it is so everywhere. Collective.
    virtual bool all(bool mine) const = 0;

    /// Ends all processes.
    virtual void abort() const noexcept = 0;
};

/// Everything known of a launch once its command line has been read.
struct Launch {
    std::string program;
    Options options;
    std::vector<int> cpus;
    Pace pace;
    const Peers* peers = nullptr;  ///< null: all ranks are threads of this process

    bool crowded() const noexcept { return options.ranks * options.threads > cpus.size(); }
    Places places() const { return {options.placement, cpus}; }

    /// Keeps what --only asks for, and names it all when --list does: false then, as there is nothing to measure.
    bool keeps(Roster& roster, const Add& add = nothing_more) const;

    /// For a program that measures one thing: throws WrongUse when candidates are named.
    void refuse_names() const;

    /// Prints the environment record.
    void begin(const Versions& versions = {}) const;
};

/// How long things may take with that many ranks on that many CPUs.
Pace pace_for(const Options& options, std::size_t cpus);

struct Program {
    std::string name;
    std::vector<Flag> flags{};                       ///< its own
    std::function<int(Launch& launch)> measure;      ///< gives the exit status
    std::function<std::unique_ptr<Peers>()> join{};  ///< after the flags have been read; empty: the process is alone
    std::string launcher{};                          ///< how to start more ranks, where a launcher does
};

/// Reads the command line and does what it asks for: help, or to measure; one line on stderr for what cannot be.
/// Only rank 0 prints. Gives the exit status: 0, 1 for a violation or a failure, 2 for wrong use.
int run(const Program& program, int count, const char* const* words);

/// The rounds of a launch. The processes of a launch agree on when to stop.
class Rounds {
public:
    Rounds(const Launch& launch, Crew& crew) : launch_(launch), crew_(crew), random_(launch.options.seed) {}

    /// Measures round after round, until as many as asked for are done, or the budget is, or one says false: then
    /// somebody was let out early. Prints "done" and gives the exit status.
    int run(const std::function<bool(std::uint32_t round)>& round);

    /// Measures and prints the floors.
    void floors(std::uint32_t round);

    /// Draws a new order. Not std::shuffle: the order a seed gives must not depend on the library.
    template <class Subject>
    void shuffle(std::vector<Subject>& order) {
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
    }

    double spent_ns() const { return nanoseconds(ticks() - began_); }

    /// Time that no other round will need.
    void spent_once(double ns) { once_ns_ += ns; }

private:
    const Launch& launch_;
    Crew& crew_;
    std::mt19937_64 random_;
    const Ticks began_ = ticks();
    double once_ns_ = 0;
};

/// Whether a candidate has no chance: it never gives its CPU away and there are more ranks than CPUs.
inline bool is_lost(const Label& label, bool crowded) { return crowded && label.manners == Manners::spins; }

/// As measure_roster() with --turns: every candidate under every workload, in an order drawn anew.
int measure_turns(const Launch& launch, Crew& crew, Roster& roster);

/// With --check: every candidate's episodes are checked and none is measured. Ends the program, with status 1, at the
/// first rank that leaves early and when ranks are stuck.
int check_roster(const Launch& launch, Crew& crew, Roster& roster);

/// Prints what the roster says is skipped, then in rounds the floors and all candidates, in an order drawn anew. Gives
/// the exit status: 1 when a candidate let somebody out early; that was printed and ends the launch.
int measure_roster(const Launch& launch, Crew& crew, Roster& roster);

}  // namespace tollbar::bench
