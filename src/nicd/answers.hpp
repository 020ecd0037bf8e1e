// SPDX-License-Identifier: Apache-2.0
// What the daemon says to a client.
#pragma once

#include "client/talk.hpp"

#include "runtime/error.hpp"
#include "runtime/files.hpp"

#include <string>
#include <vector>

namespace tollbar::nic {

/// Never waits: a member that does not read its answer has lost it.
void send_answer(const File& connection, int error, const std::string& text,
                 const std::vector<const File*>& files) noexcept;

/// Whether `action` was refused, which the member is told. Anything that it throws is a refusal.
template <class Action>
bool refused(const File& connection, Action action) {
    const runtime::Refusal refusal = runtime::refusal_of(action);
    if (refusal.error != 0) send_answer(connection, refusal.error, refusal.line, {});
    return refusal.error != 0;
}

}  // namespace tollbar::nic
