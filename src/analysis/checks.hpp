// SPDX-License-Identifier: Apache-2.0
// The arguments that every price refuses.
#pragma once

#include <tollbar/price.hpp>

#include <string>

namespace tollbar::detail {

/// The shortest text that reads as this number.
std::string shortest(double number);

/// Throws std::invalid_argument unless it is a finite time of at least 0; `name` names it in the message.
void check_time(double time_us, const std::string& name);

/// The same for each parameter.
void check_times(const LogP& logp);

}  // namespace tollbar::detail
