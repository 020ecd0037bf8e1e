// SPDX-License-Identifier: Apache-2.0
// Plans as values: a name, a number of ranks, and the rule that gives each rank its program.
#include "grouping.hpp"
#include "wording.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tollbar {

using namespace detail;

void detail::check_ranks(Rank ranks) {
    if (ranks == 0 || ranks > max_ranks)
        throw std::invalid_argument(worded({"a plan has 1 to ", max_ranks, " ranks, not ", ranks}));
}

namespace {

Rank counted(const std::vector<Program>& programs) {
    return static_cast<Rank>(std::min<std::size_t>(programs.size(), max_ranks + std::size_t{1}));
}

}  // namespace

Plan::Plan(std::string name, Rank ranks, Rule rule, Rank roles)
    : name_(std::move(name)), ranks_(ranks), roles_(roles), rule_(std::make_shared<const Rule>(std::move(rule))) {
    check_ranks(ranks);
    if (roles > max_ranks)
        throw std::invalid_argument(worded({"a plan has at most ", max_ranks, " roles, not ", roles}));
}

// In braces the size is read before the words are moved.
Plan::Plan(std::string name, std::vector<Program> programs, const std::vector<Program>& roles)
    : Plan{std::move(name), counted(programs),
           [words = std::make_shared<const std::vector<Program>>(std::move(programs)),
            played = std::make_shared<const std::vector<Program>>(roles)](Rank self) {
               return is_role(self) ? (*played)[role_number(self)] : (*words)[self];
           },
           counted(roles)} {}

Program Plan::program(Rank self) const {
    if (index_of(self) < members()) return (*rule_)(self);
    if (is_role(self))
        throw std::invalid_argument(worded({named(self), " is not one of the ", roles_, " of '", name_, "'"}));
    throw std::invalid_argument(worded({"rank ", self, " is not one of 0..", ranks_ - 1}));
}

}  // namespace tollbar
