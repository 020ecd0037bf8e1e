// SPDX-License-Identifier: Apache-2.0
// Tells by a Signaller, and counts by atomic updates.
#include "transport.hpp"

#include "open_mpi.hpp"

#include <algorithm>
#include <shmem.h>
#include <type_traits>

namespace tollbar::shmem {

using Kind = Step::Kind;

// Not every OpenSHMEM has the atomics by the names of fixed width.
static_assert(std::is_same_v<unsigned long, std::uint64_t>);

ShmemTransport::ShmemTransport(Block block, std::span<const int> pes, std::unique_ptr<Signaller> signaller,
                               Patience patience, Episode before)
    : block_(block), pes_(pes.begin(), pes.end()), signaller_(std::move(signaller)), patience_(patience),
      before_(before),
      near_(std::ranges::all_of(pes, [&](int pe) { return shmem_ptr(block.words(), pe) != nullptr; })) {}

std::uint32_t ShmemTransport::take(const Step& step, Episode episode) noexcept {
    switch (step.kind) {
        case Kind::tell: signaller_->tell(pes_[step.peer], step.slot); return 1;
        case Kind::meet: return meet(step, episode);
        case Kind::flush: shmem_quiet(); return 1 + step.skip;
        case Kind::clean_up: signaller_->clean_up(); return 1;
        case Kind::told: break;
    }
    return told(step) ? 1 : 0;
}

bool ShmemTransport::met(const Step& step, Episode) const noexcept {
    if (told(step)) return true;
    if (!near_) make_progress();
    return false;
}

std::uint32_t ShmemTransport::meet(const Step& step, Episode episode) noexcept {
    const std::uint64_t expected = (episode - before_) * step.share;
    const std::uint64_t count = shmem_ulong_atomic_fetch_inc(block_.counter(), pes_[step.peer]) + 1;
    if (count == expected) return 1;  // the last
    if (static_cast<std::int64_t>(count - expected) > 0) overcount_ = count;
    return 1 + step.skip;
}

void ShmemTransport::progress() const noexcept { make_progress(); }

std::optional<Signaller::Fault> ShmemTransport::fault() const noexcept {
    if (overcount_ != 0) return Signaller::Fault{Reading::impossible, overcount_, Signaller::Fault::no_slot};
    return signaller_->fault();
}

}  // namespace tollbar::shmem
