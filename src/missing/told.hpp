// SPDX-License-Identifier: Apache-2.0
// Lines for the `tollbar run` that has started this job, wherever it runs: they travel on stderr, as all that ranks say
// does, and bear a seal.
#pragma once

#include <string>

namespace tollbar::detail::missing {

/// `tollbar run` gathers what ranks wait for, and says it: its secret is in the environment. False also where this
/// process's stderr is a file, which `tollbar run` does not read.
bool are_gathered() noexcept;

/// It gathers how long each rank has waited for whom.
bool is_accounted() noexcept;

/// Says the line on stderr, with these facts for a program behind it: "tollbar: TEXT [~FACTS SEAL]". The seal is
/// SipHash-2-4 of all between "tollbar: " and the seal.
void tell(const std::string& text, const std::string& facts);

/// Tells the rows_of() of a host, of which `first` is the lowest rank, in lines that no other comes between:
/// "rows VERSION FIRST TURN PART PARTS ROWS" are the facts of each.
void tell_rows(const std::string& rows, int first);

}  // namespace tollbar::detail::missing
