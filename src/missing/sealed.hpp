// SPDX-License-Identifier: Apache-2.0
// Lines for the `tollbar run` that has started this job, wherever it runs: they travel on stderr, as all that ranks say
// does, or in its file of reports, and bear a seal.
#pragma once

#include <string>

namespace tollbar::detail::missing {

/// `tollbar run` gathers what ranks wait for, and says it: its secret is in the environment. False also where this
/// process's stderr is a file or nowhere, which `tollbar run` does not read.
bool are_gathered() noexcept;

/// It gathers how long each rank has waited for whom.
bool is_accounted() noexcept;

/// A text with facts for `tollbar run` behind it: "TEXT [~FACTS SEAL]", of one line. The seal is SipHash-2-4 of all
/// before it. Empty where no `tollbar run` has started this process.
std::string sealed(const std::string& text, const std::string& facts);

/// Says such a line on stderr.
void tell(const std::string& text, const std::string& facts);

}  // namespace tollbar::detail::missing
