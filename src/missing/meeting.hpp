// SPDX-License-Identifier: Apache-2.0
// Ranks at one collective call: who has come, and whether what they called fits together.
#pragma once

#include "whereabouts.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tollbar::detail::missing {

struct Meeting {
    std::size_t members = 0;  ///< ranks that have the communicator
    Ranks missing;            ///< members that have made fewer calls there
    Ranks racing;             ///< members with a thread in a call there while another one has made a later call
    /// Members whose call of that number is known; those whose calls fit together are together. The first ones made
    /// the call of most; of several such, it is the one of the lowest rank.
    std::vector<std::pair<tollbar_counted, Ranks>> came;
};

/// These ranks at the call of that number of the communicator `id`.
Meeting meeting_of(const Ranks& ranks, std::uint64_t id, std::uint64_t number);

/// Whether a thread of the rank is in that call. The end of a call that has only been begun is none of its threads'.
bool is_in(const Rank& rank, std::uint64_t id, std::uint64_t number);

/// Clauses about the calls that do not fit to that of most.
std::vector<Clause> misfits(const Meeting& meeting, const HostAnswers& asked);

/// Clauses where threads of a rank are in several calls at once, whose order other ranks cannot know: the ranks that
/// have made the fewest.
std::vector<Clause> numbers_do_not_tell(const Meeting& meeting, const Ranks& ranks, std::uint64_t id,
                                        const HostAnswers& asked);

/// Whether these are all the ranks of the job, so that no communicator has any elsewhere.
bool is_whole_job(const Ranks& ranks);

/// Clauses about ranks of the communicator that are not seen to have it; `members` are.
std::vector<Clause> the_rest(const tollbar_comm& comm, const Ranks& ranks, std::size_t members,
                             const HostAnswers& asked);

/// A clause that says which ranks are in the call still; about those of the others that are stopped or dead.
Clause all_have_come(const Meeting& meeting, const Ranks& ranks, std::uint64_t id, std::uint64_t number,
                     const HostAnswers& asked);

}  // namespace tollbar::detail::missing
