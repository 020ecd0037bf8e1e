// SPDX-License-Identifier: Apache-2.0
// A host over UDP as the model checker drives it beside NICs: the library's own Protocol, whose words are plain.
#pragma once

#include "wire/frame.h"

#include <tollbar/plan.hpp>

#include <memory>
#include <vector>

namespace tollbar::testing {

using Frames = std::vector<toll_frame>;

/// Which group all members of a situation belong to.
inline constexpr std::uint64_t of_group = 99;
toll_identity identity();

/// Rank `self`, admitted. Each call returns the frames that it sends. One thread at a time.
class HostMember {
public:
    HostMember(const Plan& plan, Rank self);
    ~HostMember();

    Frames enter();
    bool over() const;
    Frames pull();
    Frames hear(const toll_frame& frame);

private:
    struct Hidden;
    std::unique_ptr<Hidden> hidden_;
};

}  // namespace tollbar::testing
