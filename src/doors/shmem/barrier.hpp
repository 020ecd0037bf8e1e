// SPDX-License-Identifier: Apache-2.0
// One PE's part in a barrier: its group, the plan that it runs, and the state of its episode.
#pragma once

#include "agreement.hpp"
#include "caller_lock.hpp"

#include "base/c_door.hpp"
#include "transports/shmem/transport.hpp"

#include <tollbar/detail/runner.hpp>
#include <tollbar/shmem.h>

#include <optional>
#include <string>
#include <vector>

namespace tollbar::detail::shmem {

/// Keeps a PE's other barriers going while it waits in one, and finds out what is wrong.
class BarrierTransport : public ShmemTransport {
public:
    BarrierTransport(ShmemTransport transport, tollbar_shmem_barrier& barrier)
        : ShmemTransport(std::move(transport)), barrier_(&barrier) {}

    void progress() noexcept;
    bool gone() const noexcept;

private:
    tollbar_shmem_barrier* barrier_;
    std::uint32_t turns_ = 0;
};

}  // namespace tollbar::detail::shmem

/// One PE's part. Outside the group it has neither plan nor runner.
struct tollbar_shmem_barrier : tollbar::detail::shmem::Agreement {
    tollbar_shmem_barrier(const Agreement& agreement, bool any_thread) : Agreement(agreement), lock(any_thread) {}

    bool sync_only = false;
    bool engine = false;
    bool owns_memory = false;    ///< made by create: destroy frees collectively
    std::uint64_t identity = 0;  ///< the low half is the signature
    std::optional<tollbar::Plan> plan;
    std::vector<tollbar::detail::shmem::ShmemTransport::Step> steps;
    bool one_shot = true;
    std::optional<tollbar::detail::Runner<tollbar::detail::shmem::BarrierTransport>> runner;
    tollbar::detail::shmem::CallerLock lock;
    tollbar::detail::c_door::Waited waited;
    bool open = false;  ///< posted, and no call has reported the end yet
    int fault = 0;      ///< EPROTO or EBADMSG, once seen
    std::string what;   ///< the line for that
    std::uint32_t tests = 0;
};

namespace tollbar::detail::shmem {

inline bool BarrierTransport::gone() const noexcept { return barrier_->fault != 0; }

}  // namespace tollbar::detail::shmem
