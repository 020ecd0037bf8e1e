// SPDX-License-Identifier: Apache-2.0
// Where in a program a barrier was called from, said so that addr2line(1) can say the line.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace tollbar::mpi {

/// "FILE+0xOFFSET" for an address in that process, from /proc/PID/maps; "0xADDRESS" when that cannot be read.
std::string call_site_in(pid_t process, std::uint64_t address);

/// The innermost caller of the calling thread that is neither in an MPI library nor in tollbar; "an unknown place".
std::string own_call_site();

}  // namespace tollbar::mpi
