// SPDX-License-Identifier: Apache-2.0
// Finds the addresses of slots, counts, sleeps and wakes, and looks for what cannot be.
#include "transport.hpp"

#include "open_mpi.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tollbar::detail::shmem {

// Not every OpenSHMEM has the atomics by the names of fixed width.
static_assert(std::is_same_v<unsigned long, std::uint64_t>);

ShmemTransport::ShmemTransport(Block block, std::span<const int> pes, Signals signals, bool shared, Signature signature,
                               WaitBudget budget, Episode before)
    : block_(block), pes_(pes.begin(), pes.end()), stores_(signals == Signals::stores), shared_(stores_ && shared),
      signature_(signature), budget_(budget), before_(before),
      near_(std::ranges::all_of(pes, [&](int pe) { return shmem_ptr(block.words(), pe) != nullptr; })) {
    if (!shared_ || budget.spins != 0 || !learns_from(budget.yields) || pes.size() > LastOfCpu::most) return;
    last_of_cpu_ = LastOfCpu(scheduler_group());
    for (const int pe : pes) arrivals_.push_back(Block(shmem_ptr(block.words(), pe), block.slots()).arrivals());
}

ShmemTransport::Step ShmemTransport::located(const shmem::Step& placed) const {
    Step step{placed};
    if (!is_role(placed.peer)) step.pe = pes_[placed.peer];
    Block there = block_;
    const bool signals = placed.kind == Step::Kind::signal;
    if ((signals && stores_) || (placed.kind == Step::Kind::meet && shared_))
        if (void* words = shmem_ptr(block_.words(), step.pe); words != nullptr) {
            there = Block(words, block_.slots());
            step.stores = true;
        }
    for (unsigned parity = 0; parity < parities; ++parity) step.words[parity] = there.slot(parity, placed.slot);
    if (placed.kind == Step::Kind::meet) step.words.fill(there.counter());
    step.asleep = there.asleep();  // an await's is the PE's own
    return step;
}

std::vector<ShmemTransport::Step> ShmemTransport::locate(const std::vector<shmem::Step>& placed) const {
    std::vector<Step> steps;
    std::uint32_t signalled = 0;  // by the steps just before
    const auto wake = [&](std::uint32_t skip) {
        steps.push_back({{.kind = Step::Kind::wake, .share = std::exchange(signalled, 0), .skip = skip}});
        steps.back().done = std::prev(steps.end(), 2)->done;
    };
    for (std::size_t next = 0; next < placed.size(); ++next) {
        const shmem::Step& one = placed[next];
        if (shared_ && signalled != 0 && one.kind != Step::Kind::signal) {
            const bool flushes = one.kind == Step::Kind::flush;  // what is stored is complete
            wake(flushes ? one.skip : 0);
            if (flushes) continue;
        }
        steps.push_back(located(one));
        if (one.kind == Step::Kind::signal) ++signalled;
        if (!shared_ || one.kind != Step::Kind::meet) continue;
        // All poll the counter. The last to count has nobody to await, and the others nobody to signal.
        next += one.skip + 1;
        const Step met = steps.back();
        steps.back().skip = 1;
        signalled = 1;
        wake(1);
        steps.push_back(met);
        steps.back().kind = Step::Kind::leave;
        steps.back().done = placed[next].done;
    }
    if (shared_ && signalled != 0) wake(0);
    return steps;
}

std::uint32_t ShmemTransport::meet(const Step& step) noexcept {
    const std::uint64_t expected = full(step);
    const std::uint64_t count = 1 + (step.stores
                                         ? std::atomic_ref(*step.words[0]).fetch_add(1, std::memory_order_acq_rel)
                                         : shmem_ulong_atomic_fetch_inc(step.words[0], step.pe));
    if (count == expected) return 1;  // the last
    if (static_cast<std::int64_t>(count - expected) > 0) overcount_ = count;
    return 1 + step.skip;
}

namespace {

/// A word of symmetric memory as the kernel is to see it.
const std::atomic<std::uint64_t>& word_at(const std::uint64_t* word) noexcept {
    static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
    return *reinterpret_cast<const std::atomic<std::uint64_t>*>(word);
}

}  // namespace

// A sleeper announces itself before its last look; a PE that signals stores before it looks at the announcement: one of
// the two sees the other. The deadline ends the sleep where the memory is shared in a way that the kernel does not wake
// by.
void ShmemTransport::park(const Step& step, Deadline deadline) noexcept {
    const std::atomic_ref asleep(*step.asleep);
    asleep.fetch_add(1, std::memory_order_relaxed);
    Sync::full_fence();
    const std::uint64_t seen = word_at(step.words[parity_]).load(std::memory_order_relaxed);
    const bool is_over = step.kind == Step::Kind::leave ? is_full(step, seen) : seen == word_;
    if (!is_over) Sync::sleep_on(word_at(step.words[parity_]), seen, Sync::everybody, Scope::shared, deadline);
    asleep.fetch_sub(1, std::memory_order_relaxed);
}

void ShmemTransport::wake(const Step& step) noexcept {
    Sync::full_fence();
    for (const Step* sent = &step - step.share; sent != &step; ++sent)
        if (sent->stores && std::atomic_ref(*sent->asleep).load(std::memory_order_relaxed) != 0)
            Sync::wake(word_at(sent->words[parity_]), Sync::everybody, Scope::shared);
}

void ShmemTransport::progress() const noexcept { make_progress(); }

std::optional<ShmemTransport::Fault> ShmemTransport::fault() const noexcept {
    if (overcount_ != 0) return Fault{Reading::impossible, overcount_, Fault::no_slot};
    for (unsigned parity = 0; parity < parities; ++parity)
        for (std::uint32_t slot = 0; slot < block_.slots(); ++slot) {
            const std::uint64_t word = std::atomic_ref(*block_.slot(parity, slot)).load(std::memory_order_acquire);
            const Reading reading = read_slot(word, parity, signature_, episode_);
            if (reading == Reading::foreign || reading == Reading::impossible) return Fault{reading, word, slot};
        }
    return std::nullopt;
}

}  // namespace tollbar::detail::shmem
