// SPDX-License-Identifier: Apache-2.0
// Signals by atomic updates of counters, which the receiver takes back.
#include "counters.hpp"

#include "analysis/unheard.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>
#include <shmem.h>
#include <stdexcept>
#include <type_traits>

namespace tollbar::bench {

namespace {

// Not every OpenSHMEM has the atomics by the names of fixed width.
static_assert(std::is_same_v<unsigned, std::uint32_t> && std::is_same_v<unsigned long, std::uint64_t>);

class Amo64 : public Counters {
public:
    explicit Amo64(shmem::Block block) : block_(block) {}

    void signal(int pe, std::uint32_t slot) noexcept override { shmem_ulong_atomic_fetch_inc(counter(slot), pe); }

    bool signalled(std::uint32_t slot) const noexcept override {
        if (shmem_uint64_test(counter(slot), SHMEM_CMP_NE, 0) == 0) return false;
        std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the other PE's quiet before it signalled
        return true;
    }

    /// The counters go back by atomic updates too: what a network card adds to it may keep to itself.
    void take_back() noexcept override {
        for (std::uint32_t slot = 0; slot < block_.slots(); ++slot)
            if (signalled(slot)) decrement(slot);
        shmem_quiet();
    }

protected:
    std::uint64_t* counter(std::uint32_t slot) const noexcept { return block_.slot(0, slot); }
    virtual void decrement(std::uint32_t slot) noexcept {
        shmem_ulong_atomic_add(counter(slot), static_cast<std::uint64_t>(-1), shmem_my_pe());
    }

private:
    shmem::Block block_;
};

class Amo32 final : public Amo64 {
public:
    using Amo64::Amo64;

    void signal(int pe, std::uint32_t slot) noexcept override { shmem_uint_atomic_inc(half(slot), pe); }

    bool signalled(std::uint32_t slot) const noexcept override {
        if (shmem_uint32_test(half(slot), SHMEM_CMP_NE, 0) == 0) return false;
        std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the other PE's quiet before it signalled
        return true;
    }

private:
    std::uint32_t* half(std::uint32_t slot) const noexcept { return reinterpret_cast<std::uint32_t*>(counter(slot)); }
    void decrement(std::uint32_t slot) noexcept override {
        shmem_uint_atomic_add(half(slot), static_cast<std::uint32_t>(-1), shmem_my_pe());
    }
};

template <unsigned most_outstanding>
class Posted final : public Amo64 {
public:
    using Amo64::Amo64;

    void signal(int pe, std::uint32_t slot) noexcept override {
        if (outstanding_ == most_outstanding) {
            shmem_quiet();
            outstanding_ = 0;
        }
        shmem_ulong_atomic_inc(counter(slot), pe);
        ++outstanding_;
    }

private:
    unsigned outstanding_ = 0;
};

constexpr unsigned any_number = std::numeric_limits<unsigned>::max();

template <class Kind>
constexpr CounterKind named(const char* name) {
    return {name, [](shmem::Block block) -> std::unique_ptr<Counters> { return std::make_unique<Kind>(block); }};
}

shmem::Block allocate(const Plan& plan) {
    const std::uint32_t slots = shmem::slots_of(plan);
    const std::size_t bytes = shmem::Block::bytes_for(slots);
    void* memory = shmem_align(128, bytes);
    if (memory == nullptr) throw std::runtime_error("the symmetric heap is too small");
    std::memset(memory, 0, bytes);
    shmem_barrier_all();
    return {memory, slots};
}

CounterTransport transport_over(shmem::Block block, const CounterKind& kind) {
    std::vector<int> pes(static_cast<std::size_t>(shmem_n_pes()));
    std::iota(pes.begin(), pes.end(), 0);
    const auto here = std::ranges::count_if(pes, [&](int pe) { return shmem_ptr(block.words(), pe) != nullptr; });
    const bool crowded = static_cast<std::uint32_t>(here <= 1 ? shmem_n_pes() : here) > masked_cpus();
    const WaitBudget budget = wait_budget_for<NativeSync>(wait_policy::automatic,
                                                          crowded ? Occupancy::oversubscribed : Occupancy::exclusive);
    return {shmem::ShmemTransport(block, pes, shmem::Signals::puts, false, 0, budget, 0), kind.make(block)};
}

}  // namespace

const std::array<CounterKind, 6> counter_kinds{
    named<Amo32>("amo32"),        named<Amo64>("amo64"),        named<Posted<any_number>>("posted"),
    named<Posted<1>>("posted:1"), named<Posted<2>>("posted:2"), named<Posted<4>>("posted:4")};

CounterBarrier::CounterBarrier(const CounterKind& kind, const std::string& plan)
    : plan_(make_plan(plan, static_cast<Rank>(shmem_n_pes()))), block_(allocate(plan_)) {
    CounterTransport transport = transport_over(block_, kind);
    steps_ = transport.locate(shmem::steps_of(plan_, static_cast<Rank>(shmem_my_pe())));
    runner_.emplace(steps_.data(), static_cast<std::uint32_t>(steps_.size()), Episode{0}, std::move(transport));
}

CounterBarrier::~CounterBarrier() { shmem_free(block_.words()); }

void CounterBarrier::post() noexcept {
    shmem_quiet();
    std::atomic_thread_fence(std::memory_order_release);  // pairs with the acquire in Counters::signalled()
    runner_->start();
    runner_->advance();
}

bool CounterBarrier::test() noexcept {
    if (runner_->advance()) return true;
    runner_->transport().progress();
    return false;
}

std::vector<Rank> CounterBarrier::missing() const {
    if (runner_->finished()) return {};
    std::vector<Rank> ranks = unheard(plan_, static_cast<Rank>(shmem_my_pe()), steps_[runner_->steps_done()].done);
    std::erase_if(ranks, [&](Rank rank) {
        auto* const words = static_cast<std::uint64_t*>(shmem_ptr(block_.words(), static_cast<int>(rank)));
        return (words != nullptr && shmem::Block::entered(words) >= runner_->episode()) ||
               std::ranges::any_of(steps_, [&](const CounterTransport::Step& step) {
                   return step.kind == shmem::Step::Kind::await && step.peer == rank &&
                          runner_->transport().signalled(step);
               });
    });
    return ranks;
}

}  // namespace tollbar::bench
