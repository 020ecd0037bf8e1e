// SPDX-License-Identifier: Apache-2.0
// The file that the watched ranks of a host share, and the thread of each that looks at it.
#pragma once

#include "missing/conclusion.hpp"
#include "missing/seats.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::watch {

using namespace missing;

/// This process's own; no file where none can be had, or all rows are taken.
struct OwnRow {
    tollbar_seats_file* file = nullptr;
    tollbar_row* row = nullptr;  ///< whose rank is not known yet
};

/// Whether such a file, of any user, had that path; it has it no more once the MPI_Init of its job is over.
bool is_seats_file(std::string_view path) noexcept;

/// To be called before MPI_Init goes on, for its end takes the file's name away.
OwnRow take_place() noexcept;

/// Once MPI_Init is over on this rank, and so begun on all: takes the file's name away.
void take_name_away() noexcept;

/// At the same time: whether all of so many ranks have a row in this file. All ranks that have one get the same answer.
bool all_are_here(const OwnRow& place, int ranks) noexcept;

/// Before MPI_Init goes on: this rank will not come to where accounts are gathered.
void refuse_account(const OwnRow& place) noexcept;

/// With all_are_here(): whether each of them comes to where accounts are gathered. The same answer on each.
bool gives_account(const OwnRow& place, int ranks) noexcept;

/// Removes the files of this user's jobs that were killed before MPI_Init was over, and of which no process is left.
void remove_left_overs() noexcept;

/// Shows the row, and begins to watch: every `timeout_s` seconds in which some rank of this host has waited, one of
/// their watchers says for whom (0: never).
void begin(const OwnRow& place, double timeout_s) noexcept;

/// Ends the thread. The row stays, as one that has left.
void end(const OwnRow& place) noexcept;

/// The lines about ranks that have waited between two looks, `apart_s` seconds apart, at such a file of another job of
/// this user; `path` is /proc/PID/fd/N of one of its ranks. Throws std::system_error where it is no such file.
std::vector<Sentence> waits_in(const std::string& path, double apart_s);

/// The rows_of() the ranks at such a file, whose waits are those that have lasted through `meanwhile`, and for
/// `apart_s` seconds at least; empty where they have moved. Throws as waits_in() does, and what `meanwhile` throws.
std::string rows_in(const std::string& path, double apart_s, const std::function<void()>& meanwhile);

}  // namespace tollbar::detail::watch
