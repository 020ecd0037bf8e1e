// SPDX-License-Identifier: Apache-2.0
// Plans as values: a name, a number of ranks, and the rule that gives each rank its program.
#include "ranks.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tollbar {

void check_ranks(Rank ranks) {
    if (ranks == 0 || ranks > max_ranks)
        throw std::invalid_argument("a plan has 1 to " + std::to_string(max_ranks) + " ranks, not " +
                                    std::to_string(ranks));
}

Plan::Plan(std::string name, Rank ranks, Rule rule)
    : name_(std::move(name)), ranks_(ranks), rule_(std::make_shared<const Rule>(std::move(rule))) {
    check_ranks(ranks);
}

// In braces the size is read before the words are moved.
Plan::Plan(std::string name, std::vector<Program> programs)
    : Plan{std::move(name), static_cast<Rank>(std::min<std::size_t>(programs.size(), max_ranks + std::size_t{1})),
           [words = std::make_shared<const std::vector<Program>>(std::move(programs))](Rank self) {
               return (*words)[self];
           }} {}

Program Plan::program(Rank self) const {
    if (self >= ranks_)
        throw std::invalid_argument("rank " + std::to_string(self) + " is not one of 0.." + std::to_string(ranks_ - 1));
    return (*rule_)(self);
}

}  // namespace tollbar
