// SPDX-License-Identifier: Apache-2.0
// What errno values mean to users of tollbar.h, and the thread's last error line.
#include "runtime/error.hpp"

#include <tollbar/tollbar.h>

#include <cerrno>
#include <cstring>

const char* tollbar_last_error(void) { return tollbar::runtime::last_error(); }

const char* tollbar_strerror(int error) {
    switch (error) {
        case 0: return "success";
        case EAGAIN: return "not over yet";
        case EINVAL: return "invalid argument";
        case EBUSY: return "the rank is taken";
        case ETIMEDOUT: return "time ran out; the wait may be repeated";
        case ENOSPC: return "not enough room";
        case EEXIST: return "the name belongs to another group, or to no group at all";
        default: break;
    }
    const char* text = strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}
