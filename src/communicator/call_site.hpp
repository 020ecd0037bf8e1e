// SPDX-License-Identifier: Apache-2.0
// The call site of a barrier in a program, in a form from which addr2line(1) gives the line.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace tollbar::detail::mpi {

/// "FILE+0xOFFSET" for an address in that process, from /proc/PID/maps; "0xADDRESS" when that cannot be read.
std::string call_site_in(pid_t process, std::uint64_t address);

/// The innermost caller of the calling thread that is neither in an MPI library nor in tollbar; "an unknown place".
std::string own_call_site();

}  // namespace tollbar::detail::mpi
