// SPDX-License-Identifier: Apache-2.0
// Around system calls that may fail as a matter of course: callers find errno as they left it.
#pragma once

#include <cerrno>

namespace tollbar::detail::c_door {

class KeptErrno {
public:
    KeptErrno() noexcept = default;
    ~KeptErrno() { errno = value_; }
    KeptErrno(const KeptErrno&) = delete;
    KeptErrno& operator=(const KeptErrno&) = delete;

private:
    int value_ = errno;
};

}  // namespace tollbar::detail::c_door
