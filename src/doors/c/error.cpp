// SPDX-License-Identifier: Apache-2.0
// The meaning of errno values in all C doors (tollbar.h, udp.h, nic.h, mpi.h, shmem.h), and the thread's last error
// line.
#include "base/error.hpp"

#include <tollbar/tollbar.h>

#include <cerrno>
#include <cstring>

const char* tollbar_last_error(void) { return tollbar::detail::c_door::last_error(); }

const char* tollbar_strerror(int error) {
    switch (error) {
        case 0: return "success";
        case EAGAIN: return "not over yet";
        case EINVAL: return "invalid argument";
        case EBUSY: return "busy: the rank is taken, or an episode is open";
        case ETIMEDOUT: return "time ran out; the wait may be repeated";
        case ENOSPC: return "not enough room";
        case EEXIST: return "taken: the name belongs to something else, or the NIC has a member of that group";
        case EPIPE: return "the NIC daemon is gone";
        case EPROTO: return "the members do not agree on the barrier";
        case ESTALE: return "the group does not admit this member";
        case ESRCH: return "no such member of the group";
        default: break;
    }
#if __GLIBC_PREREQ(2, 32)
    const char* const text = strerrordesc_np(error);
#else
    const char* const text = std::strerror(error);
#endif
    return text == nullptr ? "unknown error" : text;
}
