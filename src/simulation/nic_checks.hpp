// SPDX-License-Identifier: Apache-2.0
// What the NIC timing model refuses.
#pragma once

#include <tollbar/nic_model.hpp>
#include <tollbar/verify.hpp>

#include <stdexcept>
#include <string>

namespace tollbar::nic_model {

/// These throw std::invalid_argument that names what is wrong and what is accepted.
void check(const Parameters& parameters);
void check(const Workload& workload, Rank ranks);
void check(const Measured& at);
void check_time(double us, const std::string& what);
void check_share(double share, const std::string& what);

std::invalid_argument never_ends(const Plan& plan, const Verdict& verdict);

}  // namespace tollbar::nic_model
