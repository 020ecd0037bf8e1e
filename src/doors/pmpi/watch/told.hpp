// SPDX-License-Identifier: Apache-2.0
// Lines for the `tollbar run` that has started this job, wherever it runs: they travel on stderr, as all that ranks say
// does, and bear a seal.
#pragma once

#include <string>

namespace tollbar::detail::watch {

/// `tollbar run` gathers what is told: its secret is in the environment.
bool is_gathered() noexcept;

/// The same, and it wants to know how long each rank has waited for whom.
bool is_accounted() noexcept;

/// Reports the line, and where it is gathered, with these facts for a program behind it: "tollbar: TEXT [~FACTS SEAL]".
/// The seal is SipHash-2-4 of all between "tollbar: " and the seal.
void tell(const std::string& text, const std::string& facts);

}  // namespace tollbar::detail::watch
