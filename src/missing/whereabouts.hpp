// SPDX-License-Identifier: Apache-2.0
// Ranks in words: who they are, and where.
#pragma once

#include "conclusion.hpp"

#include "listed.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::detail::missing {

inline std::string text_of_number(const Rank* rank) { return std::to_string(rank->row.rank); }

/// "3 and 5", "0-16 and 18-1023".
inline std::string numbers(const Ranks& ranks) {
    std::vector<std::int32_t> of_each;
    for (const Rank* rank : ranks) of_each.push_back(rank->row.rank);
    return listed(of_each);
}

/// Whether it is stopped or dead. A rank past MPI_Finalize is neither, whatever its process does.
bool is_stopped(const Rank& rank, const HostAnswers& asked);

/// "host a, process 4711".
std::string home(const Rank& rank);

/// "rank 3 (host a, process 4711)", "ranks 3 and 5", or, where they are known on several hosts, "ranks 3 and 5 (hosts a
/// and b)".
std::string named(const Ranks& ranks, const HostAnswers& asked);

/// " from rank 1 (tag 7)".
std::string peer_of(const tollbar_seat& seat);

/// "in MPI_Recv from rank 1 (tag 7) at ...".
std::string in_call(const Rank& rank, const tollbar_seat& seat, const HostAnswers& asked);

/// Such as "in MPI_Recv from rank 1 (tag 7) at ...", "stopped, in ..." or "outside the MPI, running, after
/// MPI_Bcast 4 of MPI_COMM_WORLD at ...".
std::string whereabouts(const Rank& rank, const HostAnswers& asked);

/// The ranks at each of their whereabouts.
std::vector<std::pair<std::string, Ranks>> by_place(const Ranks& ranks, const HostAnswers& asked);

/// A clause about these ranks.
Clause clause_of(std::string text, const Ranks& ranks);

/// "rank 2 (host a, process 4711) is ..."; ranks in one place share a clause.
std::vector<Clause> clauses(const Ranks& ranks, const HostAnswers& asked, const char* is = " is ",
                            const char* are = " are ");

/// "4 of its ranks are not watched on this host", of a subject that is about so many ranks; of hosts that tell it is
/// not known where such ranks are.
std::string not_seen(const std::string& subject, std::size_t ranks, bool may_be_late, const HostAnswers& asked);

}  // namespace tollbar::detail::missing
