// SPDX-License-Identifier: Apache-2.0
// The catalogue's entries as the parser of spellings reads them: how the plan of a family is made.
#pragma once

#include <tollbar/algorithms.hpp>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tollbar::detail {

using Parameters = std::array<Rank, 2>;

/// A family with its parameters, their bounds, and the program of a member. Families that are made of other plans have
/// no program of their own.
struct Maker {
    Algorithm algorithm;
    std::size_t parameters = 0;
    Parameters defaults{};
    Rank lowest = 0;
    Rank highest = 0;
    Program (*program)(Rank self, Rank ranks, const Parameters& parameters) = nullptr;
};

/// Throws std::invalid_argument with all names when there is none of that name.
const Maker& find_maker(std::string_view name, std::string_view spelling);

/// The number of roles of the family between `ranks` ranks: one, where it has any.
Rank roles_of(const Maker& maker, Rank ranks);

std::invalid_argument refuse(std::string_view spelling, const std::string& why);

}  // namespace tollbar::detail
