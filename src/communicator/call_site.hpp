// SPDX-License-Identifier: Apache-2.0
// The call site of a barrier in a program, in a form from which addr2line(1) gives the line.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace tollbar::detail::mpi {

/// "FILE+0xADDRESS" of the call in that process that returns there: the address as the file was linked, from
/// /proc/PID/maps and the file's program headers; "0xADDRESS", as in the process's memory, when these cannot be read.
std::string call_site_in(pid_t process, std::uint64_t returns_to);

/// The innermost caller of the calling thread that is neither in an MPI library nor in tollbar; "an unknown place".
std::string own_call_site();

}  // namespace tollbar::detail::mpi
