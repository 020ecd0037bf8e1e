// SPDX-License-Identifier: Apache-2.0
// How every record about a visit to a candidate begins, and the one that ends a launch.
#pragma once

#include "candidate.hpp"
#include "json.hpp"

namespace tollbar::bench {

/// A record of that kind with the candidate's label.
Record start_record(const char* kind, const Label& label, std::uint32_t round);

/// Whether nobody left an episode early; if somebody did, prints who.
bool sound(const Samples& samples, const Label& label, std::uint32_t round);

/// Prints that a candidate is not measured, and why, in words.
void print_skipped(const std::string& name, const std::string& why, const std::string& wait = "auto");

}  // namespace tollbar::bench
