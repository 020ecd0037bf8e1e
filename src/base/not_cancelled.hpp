// SPDX-License-Identifier: Apache-2.0
// No function of ours is a cancellation point, though naps, sockets, files and lines on stderr are: an unwinding thread
// would end the process at the first noexcept function.
#pragma once

#include <pthread.h>

namespace tollbar::detail {

/// While it exists, pthread_cancel(3) of this thread waits.
class NotCancelled {
public:
    NotCancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
    NotCancelled(const NotCancelled&) = delete;
    NotCancelled& operator=(const NotCancelled&) = delete;

private:
    int before_ = 0;
};

}  // namespace tollbar::detail
