// SPDX-License-Identifier: Apache-2.0
// What a tollbar_shmem_barrier is: who meets, what runs, and what its caller was told.
#pragma once

#include "agreement.hpp"
#include "caller_lock.hpp"

#include "transports/shmem/transport.hpp"

#include <tollbar/detail/runner.hpp>
#include <tollbar/shmem.h>

#include <optional>
#include <string>
#include <vector>

namespace tollbar::shmem {

/// While a PE waits in one barrier it keeps its others going, and finds out what is wrong.
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

}  // namespace tollbar::shmem

/// One PE's part. Outside the group it has neither plan nor runner.
struct tollbar_shmem_barrier : tollbar::shmem::Agreement {
    tollbar_shmem_barrier(const Agreement& agreement, bool any_thread) : Agreement(agreement), lock(any_thread) {}

    bool sync_only = false;
    bool engine = false;
    bool owns_memory = false;    ///< made by create: destroy frees collectively
    std::uint64_t identity = 0;  ///< the low half is the signature
    std::optional<tollbar::Plan> plan;
    std::vector<tollbar::shmem::ShmemTransport::Step> steps;
    bool one_shot = true;
    std::optional<tollbar::Runner<tollbar::shmem::BarrierTransport>> runner;
    tollbar::shmem::CallerLock lock;
    bool open = false;  ///< posted, and nobody was told yet that it is over
    int fault = 0;      ///< EPROTO or EBADMSG, once seen
    std::string what;   ///< the line for that
    std::uint32_t tests = 0;
};

namespace tollbar::shmem {

inline bool BarrierTransport::gone() const noexcept { return barrier_->fault != 0; }

/// tollbar_shmem_barrier_create; with `signals` by that kind of signals instead of the one that the options name, which
/// is how experiments bring their own.
int create(const tollbar_shmem_group* group, const tollbar_shmem_options& options, const SignalKind* signals,
           tollbar_shmem_barrier** barrier);

}  // namespace tollbar::shmem
