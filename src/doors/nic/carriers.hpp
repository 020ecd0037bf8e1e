// SPDX-License-Identifier: Apache-2.0
// What runs a member's barrier: its card, or its host over UDP, or nobody where it is alone.
#pragma once

#include "transports/nic/member.hpp"

#include <tollbar/nic.h>

#include <memory>
#include <string>
#include <vector>

namespace tollbar::nic {

class Carrier {
public:
    virtual ~Carrier() = default;

    virtual const char* name() const noexcept = 0;

    /// After the end of the episode before. False when nothing carries the group any more.
    virtual bool arrive() noexcept = 0;

    /// True before the first episode too.
    virtual bool test() noexcept = 0;

    /// Whether it was found that nothing carries the group any more.
    virtual bool gone() const noexcept { return false; }

    virtual Outcome finish(Deadline deadline) noexcept = 0;

    /// For ever; says who is missing as TOLLBAR_TIMEOUT asks for.
    virtual Outcome wait() = 0;

    virtual std::vector<Rank> missing() = 0;
};

/// What runs where the user does not say. Throws std::invalid_argument when a group cannot be so.
std::string plan_for(const tollbar_nic_group& group, const tollbar_nic_options& options);

/// Throws what becomes the error of tollbar_nic_join.
std::unique_ptr<Carrier> make_carrier(const tollbar_nic_group& group, const tollbar_nic_options& options,
                                      const std::string& plan);

}  // namespace tollbar::nic
