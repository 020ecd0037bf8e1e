// SPDX-License-Identifier: Apache-2.0
// The ranks of a host as they travel to `tollbar run`, which concludes from those of all hosts what one host would.
#pragma once

#include "conclusion.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::missing {

/// Rows of another one are refused.
constexpr int rows_version = 1;

/// Whatever ranks tell, no more of a host.
constexpr std::size_t most_bytes_of_rows = std::size_t{8} << 20;

/// Words with blanks between, without control characters: the host, the texts of the places of its ranks' calls and of
/// what these do, and of each rank what conclude() reads. Waits are those that have lasted for `timeout_s`.
/// Communicators of a rank's own alone are left out where it has no call in them.
std::string rows_of(const KnownHost& host, const std::vector<Rank>& ranks, double timeout_s, const HostAnswers& asked);

/// They stay where they are: ranks have pointers to their host.
struct Rows {
    Rows() = default;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    KnownHost host;
    std::vector<Rank> ranks;
};

/// Reads rows_of() into `rows`; false where it is none.
bool read_rows(std::string_view text, Rows& rows);

/// As conclude(), of ranks that have travelled; `tells_time` as for HostAnswers.
std::vector<Sentence> conclude_of_hosts(const Ranks& ranks, bool tells_time = true);

}  // namespace tollbar::detail::missing
