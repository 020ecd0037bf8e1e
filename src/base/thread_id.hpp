// SPDX-License-Identifier: Apache-2.0
// The kernel's number of the calling thread; glibc has a function for it from 2.30 on.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace tollbar::detail {

inline pid_t thread_id() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

}  // namespace tollbar::detail
