// SPDX-License-Identifier: Apache-2.0
// Refusals of the NIC model.
#pragma once

#include <tollbar/models/nic.hpp>
#include <tollbar/verify.hpp>

#include <stdexcept>
#include <string>

/// All of these throw std::invalid_argument that names what is wrong and what is accepted.
namespace tollbar::nic_model {

void check(const Parameters& parameters);
void check(const Workload& workload, Rank ranks);
void check(const Measured& at);
void check_share(double share, const std::string& what);

std::invalid_argument never_ends(const Plan& plan, const Verdict& verdict);

}  // namespace tollbar::nic_model
