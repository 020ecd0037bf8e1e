// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>

namespace tollbar::detail {

// A file of some size takes longer than the pauses of a signal that comes often, and what was got is given back at each
// of them.
int reserve(int descriptor, std::size_t from, std::size_t bytes) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && from + bytes > limit.rlim_cur) return EFBIG;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = posix_fallocate(descriptor, static_cast<off_t>(from), static_cast<off_t>(bytes));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

}  // namespace tollbar::detail
