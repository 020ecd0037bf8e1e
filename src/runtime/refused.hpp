// SPDX-License-Identifier: Apache-2.0
// Why a rank is kept out of a group, in words.
#pragma once

#include "frame.h"

#include <string>

namespace tollbar {

/// One line that says what to do. `other` is the rank that refused, or was refused.
inline std::string text_of_refusal(toll_refusal why, unsigned other) {
    const std::string who = "rank " + std::to_string(other);
    if (why == toll_other_plan)
        return who + " has another plan, number of ranks or order of hosts: nobody leaves until all have the same";
    return who +
           " belongs to an earlier use of this group, or a second process has its rank: leave, and have all ranks join "
           "another group (another number or key)";
}

}  // namespace tollbar
