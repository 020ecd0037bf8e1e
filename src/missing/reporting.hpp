// SPDX-License-Identifier: Apache-2.0
// Waits that end only with what they wait for, and the lines by which they name who is missing meanwhile.
#pragma once

#include "listed.hpp"
#include "sentence.hpp"

#include "base/environment.hpp"
#include "base/not_cancelled.hpp"
#include "base/once.hpp"
#include "base/say.h"

#include <tollbar/detail/deadline.hpp>
#include <tollbar/plan.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::detail {

/// After how long a wait reports who is missing, and again; nothing: never.
using Timeout = std::optional<std::chrono::duration<double>>;

/// That of TOLLBAR_TIMEOUT, which is read once.
inline const Timeout& own_timeout() noexcept {
    static constinit Once<Timeout> timeout;
    return timeout.get(environment::timeout);
}

/// Runs `report`, in which nothing is a cancellation point. A report that finds no memory is left out: the wait that it
/// belongs to matters more.
template <class Report>
void report_if_possible(Report&& report) noexcept {
    const NotCancelled not_cancelled;
    try {
        report();
    } catch (const std::exception&) {
    }
}

/// Calls `finish(deadline)` until it is true; each time that another timeout has passed in vain calls
/// `report(waited)`, which returns whether the wait goes on. False when it does not.
///
///     wait_reporting(own_timeout(), [&](auto deadline) { return runner.finish(deadline); },
///                    [&](auto waited) { return tollbar_report("rank 1 is missing"), true; });
template <class Finish, class Report>
bool wait_reporting(const Timeout& timeout, Finish&& finish, Report&& report) noexcept {
    if (!timeout) return finish(Never{});
    bool goes_on = true;
    for (auto waited = *timeout; !finish(deadline_after(*timeout)); waited += *timeout) {
        report_if_possible([&] { goes_on = report(waited); });
        if (!goes_on) return false;
    }
    return true;
}

/// For a wait that looks again and again: whether the next report is due. `at_s` is the time of that report, which
/// moves on by the timeout (0: no reports).
inline bool report_is_due(double now_s, double timeout_s, double& at_s) noexcept {
    if (timeout_s <= 0 || now_s < at_s) return false;
    at_s = now_s + timeout_s;
    return true;
}

/// Waits for the end of the episode of a participant between hosts, with reports where TOLLBAR_TIMEOUT asks for them;
/// `what()` it is a member of, such as "UDP group". False when the participant is gone.
template <class Participant, class What>
bool wait_reporting(Participant& self, What what) noexcept {
    return wait_reporting(
        own_timeout(), [&](Deadline deadline) { return self.finish(deadline); },
        [&](std::chrono::duration<double> waited) {
            if (self.gone()) return false;
            missing::report(
                {.about = what() + ", episode " + std::to_string(self.episode()),
                 .waiter = "rank " + std::to_string(self.rank()),
                 .waited_s = waited.count(),
                 .clauses = missing::clauses_of(missing::unheard_members(self.missing()), "a message is on its way")});
            return true;
        });
}

}  // namespace tollbar::detail
