// SPDX-License-Identifier: Apache-2.0
// Finds the addresses of slots, counts by atomic updates, and looks for what cannot be.
#include "transport.hpp"

#include "open_mpi.hpp"

#include <algorithm>
#include <type_traits>

namespace tollbar::shmem {

// Not every OpenSHMEM has the atomics by the names of fixed width.
static_assert(std::is_same_v<unsigned long, std::uint64_t>);

ShmemTransport::ShmemTransport(Block block, std::span<const int> pes, const SignalKind& signals, Signature signature,
                               Patience patience, Episode before)
    : block_(block), pes_(pes.begin(), pes.end()), stores_(&signals == &by_stores),
      signaller_(signals.make == nullptr ? nullptr : signals.make(block)), signature_(signature), patience_(patience),
      before_(before),
      near_(std::ranges::all_of(pes, [&](int pe) { return shmem_ptr(block.words(), pe) != nullptr; })) {}

std::vector<ShmemTransport::Step> ShmemTransport::locate(const std::vector<shmem::Step>& placed) const {
    std::vector<Step> steps;
    for (const shmem::Step& one : placed) {
        Step step{one};
        if (!is_role(one.peer)) step.pe = pes_[one.peer];
        Block there = block_;
        if (stores_ && one.kind == Step::Kind::tell)
            if (void* words = shmem_ptr(block_.words(), step.pe); words != nullptr) {
                there = Block(words, block_.slots());
                step.stores = true;
            }
        for (unsigned phase = 0; phase < phases; ++phase) step.words[phase] = there.slot(phase, one.slot);
        steps.push_back(step);
    }
    if (signaller_ != nullptr) steps.push_back({{.kind = Step::Kind::clean_up}});
    return steps;
}

std::uint32_t ShmemTransport::meet(const Step& step) noexcept {
    const std::uint64_t expected = (episode_ - before_) * step.share;
    const std::uint64_t count = shmem_ulong_atomic_fetch_inc(block_.counter(), step.pe) + 1;
    if (count == expected) return 1;  // the last
    if (static_cast<std::int64_t>(count - expected) > 0) overcount_ = count;
    return 1 + step.skip;
}

void ShmemTransport::progress() const noexcept { make_progress(); }

std::optional<ShmemTransport::Fault> ShmemTransport::fault() const noexcept {
    if (overcount_ != 0) return Fault{Reading::impossible, overcount_, Fault::no_slot};
    if (signaller_ != nullptr) return std::nullopt;
    for (unsigned phase = 0; phase < phases; ++phase)
        for (std::uint32_t slot = 0; slot < block_.slots(); ++slot) {
            const std::uint64_t word = std::atomic_ref(*block_.slot(phase, slot)).load(std::memory_order_acquire);
            const Reading reading = read_slot(word, phase, signature_, episode_);
            if (reading == Reading::foreign || reading == Reading::impossible) return Fault{reading, word, slot};
        }
    return std::nullopt;
}

}  // namespace tollbar::shmem
