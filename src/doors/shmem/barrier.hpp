// SPDX-License-Identifier: Apache-2.0
// What a tollbar_shmem_barrier is: who meets, what runs, and what has been said to the caller of it.
#pragma once

#include "claim.hpp"
#include "group.hpp"

#include "transports/shmem/course.hpp"

#include <tollbar/shmem.h>

#include <optional>
#include <string>

/// One PE's part. Outside the group it has neither course nor plan.
struct tollbar_shmem_barrier {
    explicit tollbar_shmem_barrier(bool any_thread) : usage(any_thread) {}

    tollbar::shmem::Members members;
    std::string spelling;
    tollbar::shmem::Signals signals = tollbar::shmem::Signals::puts;
    bool sync_only = false;
    bool engine = false;
    bool owns_memory = false;  ///< made by create: destroy frees collectively
    tollbar::shmem::Block block;
    std::uint64_t identity = 0;  ///< the low half is the signature
    bool crowded = false;
    std::optional<tollbar::Plan> plan;
    std::optional<tollbar::shmem::Course> course;
    tollbar::shmem::Usage usage;
    bool open = false;  ///< posted, and nobody was told yet that it is over
    int fault = 0;      ///< EPROTO or EBADMSG, once seen
    std::string what;   ///< the line for that
    std::uint32_t looks = 0;
};

namespace tollbar::shmem {

/// What tells the barriers of one block apart: group and tag in the upper half of the signature, plan in the lower.
std::uint64_t identity_of(const Members& members, unsigned tag, std::uint64_t number, const std::string& spelling,
                          Signals signals);

/// Makes this PE's part over `block`, which is not yet named.
tollbar_shmem_barrier* make_barrier(Members members, const std::string& spelling, const tollbar_shmem_options& options,
                                    Block block, bool owns_memory, std::uint64_t number);

}  // namespace tollbar::shmem
