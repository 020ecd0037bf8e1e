// SPDX-License-Identifier: Apache-2.0
// Refusals that all models share.
#pragma once

#include <string>

namespace tollbar::models {

/// Throws std::invalid_argument, with `what` in it, unless `us` is a finite time from least_us to 1e12.
void check_time(double us, const std::string& what, double least_us = 0);

}  // namespace tollbar::models
