// SPDX-License-Identifier: Apache-2.0
// The one writer of sentences about waits: at what, for how long, and for whom. Every door says them in these words.
#pragma once

#include "members.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::missing {

/// A wait that has lasted.
struct Report {
    std::string
        about;  ///< the barrier or the call, the same wherever it was made: "MPI_COMM_WORLD (4 ranks), barrier 3"
    std::string place{};   ///< in code; empty: not known
    std::string waiter;    ///< "rank 0 on vm"
    double waited_s = -1;  ///< less than 0: not known, or there are several
    std::string how{};     ///< behind its seconds: " in MPI_Wait"; instead of them where they are less than 0
    std::vector<Clause> clauses;
    std::string wait{};          ///< see Sentence; empty: it is this waiter's alone
    std::vector<int> arrived{};  ///< the threads that are there, where the missing are not known by name
    std::size_t lacking = 0;     ///< how many are missing then
};

/// A wait in words, and its facts for a program.
struct Sentence {
    std::string text;
    std::string about;
    /// All sentences of a wait have this, and no other wait's: "at ID NUMBER", a collective call of a communicator,
    /// "in RANK SEAT CALL", any other call of an MPI, or "by PROCESS WAITER ABOUT", any other wait.
    std::string wait;
    std::vector<int> named;  ///< the members of which it tells something besides the waiter, in ascending order
    double waited_s = 0;     ///< the one that waits
    std::vector<int> arrived{};
    std::size_t lacking = 0;
};

/// "ABOUT at PLACE: WAITER has waited 1.5 s HOW: CLAUSE; CLAUSE".
Sentence sentence_of(const Report& report);

/// The version of the facts that travel behind a sentence; another one's are refused.
constexpr int sentence_version = 1;

/// "missing VERSION SECONDS LACKING NAMED ARRIVED WAIT", a tab, and what it is about, in one line; of long lists the
/// first numbers.
std::string facts_of(const Sentence& sentence);

/// A sentence that has travelled, of these facts; false where they are none.
bool read_sentence(const std::string& text, std::string_view facts, Sentence& sentence);

/// Appends the sentence to the file that TOLLBAR_REPORT names, or says it on stderr. For the `tollbar run` that has
/// started this program, the facts are behind it, sealed.
void report(const Sentence& sentence);
inline void report(const Report& of_wait) { report(sentence_of(of_wait)); }

/// The clause about barriers that count threads: "1 of 4 threads have not arrived, threads 5, 6 and 7 have". `whose` is
/// behind their numbers.
Clause clause_of_arrived(const char* kind, const std::vector<int>& arrived, std::size_t lacking, std::size_t expected,
                         const char* whose = "");

}  // namespace tollbar::detail::missing
