// SPDX-License-Identifier: Apache-2.0
// What every price refuses.
#pragma once

#include <tollbar/price.hpp>

#include <string>

namespace tollbar {

/// The shortest text that reads as this number.
std::string shortest(double number);

/// Throws std::invalid_argument unless it is a finite time of at least 0; `name` says what of.
void check_time(double time_us, const std::string& name);

/// The same for each parameter.
void check_times(const LogP& logp);

}  // namespace tollbar
