// SPDX-License-Identifier: Apache-2.0
// Waiting for ever between hosts, where TOLLBAR_TIMEOUT asks for a word about who is missing.
#pragma once

#include "environment.hpp"
#include "say.h"

#include <tollbar/plan.hpp>
#include <tollbar/detail/sync.hpp>

#include <exception>
#include <string>

namespace tollbar {

/// Calls `finish(deadline)` until it is true, or `gone()` is; false when gone.
template <class Participant>
bool wait_and_report(Participant& self) noexcept {
    static const auto timeout = environment::timeout();
    if (!timeout) return self.finish({Deadline{std::chrono::steady_clock::time_point::max()}});
    for (auto waited = *timeout; !self.finish(deadline_after(*timeout)); waited += *timeout) {
        if (self.gone()) return false;
        try {
            std::string names;
            for (const Rank rank : self.missing()) names += (names.empty() ? "" : ", ") + std::to_string(rank);
            tollbar_report("rank %u has waited %.1f s in episode %llu for rank %s", static_cast<unsigned>(self.rank()),
                           waited.count(), static_cast<unsigned long long>(self.episode()), names.c_str());
        } catch (const std::exception&) {  // no memory for the report: go on waiting, that matters more
        }
    }
    return true;
}

}  // namespace tollbar
