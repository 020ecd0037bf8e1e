// SPDX-License-Identifier: Apache-2.0
// A launch: rounds in which the floors and then all candidates, in an order drawn anew, are measured once each.
#pragma once

#include "candidate.hpp"
#include "cpus.hpp"
#include "options.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace tollbar::bench {

/// How long things may take with that many ranks on that many CPUs.
Pace pace_for(const Options& options, std::size_t cpus);

/// Prints what the roster says is skipped, then the rounds' records, then "done".
/// False when a candidate let somebody out early; that was printed and ends the launch.
bool run_rounds(Crew& crew, Roster& roster, const Options& options, const std::vector<int>& cpus, const Pace& pace);

/// What --list prints.
void print_list(const Roster& roster);

/// What a measuring program does with its command line: help, list, or rounds, and one line on stderr for what
/// cannot be. Returns the exit status: 0, 1 for a violation or a failure, 2 for wrong use.
/// `prepare` makes the roster; `hire` makes the crew, after the environment has been printed.
int run_program(const char* name, int count, const char* const* words,
                const std::function<Roster(const Options&)>& prepare,
                const std::function<std::unique_ptr<Crew>(const Options&, const Places& places)>& hire);

/// Measures and prints one round.
using Round = std::function<void(std::uint32_t round)>;

/// As run_program(), for a program that measures in a way of its own. `check` throws WrongUse before anything is
/// printed; without it candidates cannot be named: there is one thing to measure.
int run_single(const char* name, int count, const char* const* words,
               const std::function<Round(const Options&, const std::vector<int>& cpus, const Pace& pace)>& prepare,
               const std::function<void(const Options&)>& check = {});

}  // namespace tollbar::bench
