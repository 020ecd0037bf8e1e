// SPDX-License-Identifier: Apache-2.0
// A program of tollbar's beside the user's, which notices nothing of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace tollbar::detail {

/// Runs the program with that argument and `input` as its stdin; gives what it has written once that is so many lines,
/// or once it has ended or `limit` is over, after which the program is ended. Nothing where it cannot be run.
/// Meanwhile `goes_on()` is called every 10 ms, and nothing is waited for once it is false.
///
/// The caller's process gets no child that its own wait(2) could find, no SIGCHLD, no fork(2) handlers and no copy of
/// its page tables: the program belongs to init. It has no descriptor and no variable of the caller's but
/// LD_LIBRARY_PATH. Blocks for `limit` at most once the program is there; no cancellation point, leaves errno.
std::string ask_beside(
    const std::string& program, const std::string& argument, const std::string& input, std::size_t lines,
    std::chrono::milliseconds limit, const std::function<bool()>& goes_on = [] { return true; });

/// The path of tollbar's program of that name, as it is installed or built with the library that this code is in; ""
/// where there is none of the same owner.
std::string program_of_ours(const std::string& name);

}  // namespace tollbar::detail
