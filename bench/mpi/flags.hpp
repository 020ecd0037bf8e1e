// SPDX-License-Identifier: Apache-2.0
// The flags that only the MPI programs have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::bench {

struct MpiFlags {
    std::string setting = "stock";     ///< what the caller calls the way the MPI is set up
    bool cgroups = false;              ///< a control group for each rank
    int session_nice = 0;              ///< of the session that a launcher gave a rank for itself
    std::uint64_t late_ms = 1000;      ///< how late the last rank is, once; 0: never
    std::uint64_t communicators = 12;  ///< how many are set up and timed; 0: none
    bool round_trips = false;          ///< one message between two ranks instead of barriers
    double choose_ms = 0;              ///< only choose a plan for each objective, in so long; 0: measure
};

/// Takes `flag VALUE` out of the words; empty when it is not there. Throws WrongUse.
std::string take_value(std::vector<const char*>& words, std::string_view flag);

/// The whole number that the value of a flag is. Throws WrongUse.
std::uint64_t read_number(std::string_view flag, std::string_view text, std::uint64_t lowest, std::uint64_t highest);

/// Takes these flags out of the words and leaves the others. Throws WrongUse.
MpiFlags take_mpi_flags(std::vector<const char*>& words);

/// What --help says of them.
std::string usage_of_mpi_flags();

}  // namespace tollbar::bench
