// SPDX-License-Identifier: Apache-2.0
// Tells by atomic updates of counters, which the receiver takes back.
#include "counters.hpp"

#include <atomic>
#include <limits>
#include <shmem.h>
#include <type_traits>

namespace tollbar::bench {

namespace {

// Not every OpenSHMEM has the atomics by the names of fixed width.
static_assert(std::is_same_v<unsigned, std::uint32_t> && std::is_same_v<unsigned long, std::uint64_t>);

class Amo64 : public shmem::Signaller {
public:
    explicit Amo64(shmem::Block block) : block_(block) {}

    void tell(int pe, std::uint32_t slot) noexcept override { shmem_ulong_atomic_fetch_inc(counter(slot), pe); }

    bool told(std::uint32_t slot) const noexcept override {
        if (shmem_uint64_test(counter(slot), SHMEM_CMP_NE, 0) == 0) return false;
        std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the other PE's quiet before it told
        return true;
    }

    /// The counters go back by atomic updates too: what a network card adds to it may keep to itself.
    void clean_up() noexcept override {
        for (std::uint32_t slot = 0; slot < block_.slots(); ++slot)
            if (told(slot)) take_back(slot);
        shmem_quiet();
    }

protected:
    std::uint64_t* counter(std::uint32_t slot) const noexcept { return block_.slot(0, slot); }
    virtual void take_back(std::uint32_t slot) noexcept {
        shmem_ulong_atomic_add(counter(slot), static_cast<std::uint64_t>(-1), shmem_my_pe());
    }

private:
    shmem::Block block_;
};

class Amo32 final : public Amo64 {
public:
    using Amo64::Amo64;

    void tell(int pe, std::uint32_t slot) noexcept override { shmem_uint_atomic_inc(half(slot), pe); }

    bool told(std::uint32_t slot) const noexcept override {
        if (shmem_uint32_test(half(slot), SHMEM_CMP_NE, 0) == 0) return false;
        std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the other PE's quiet before it told
        return true;
    }

private:
    std::uint32_t* half(std::uint32_t slot) const noexcept { return reinterpret_cast<std::uint32_t*>(counter(slot)); }
    void take_back(std::uint32_t slot) noexcept override {
        shmem_uint_atomic_add(half(slot), static_cast<std::uint32_t>(-1), shmem_my_pe());
    }
};

template <unsigned most_outstanding>
class Posted final : public Amo64 {
public:
    using Amo64::Amo64;

    void tell(int pe, std::uint32_t slot) noexcept override {
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
constexpr CounterKind named(const char* name, int number) {
    return {name, {number, [](shmem::Block block) -> std::unique_ptr<shmem::Signaller> {
                       return std::make_unique<Kind>(block);
                   }}};
}

}  // namespace

const std::array<CounterKind, 6> counter_kinds{
    named<Amo32>("amo32", 1),        named<Amo64>("amo64", 2),        named<Posted<any_number>>("posted", 3),
    named<Posted<1>>("posted:1", 4), named<Posted<2>>("posted:2", 5), named<Posted<4>>("posted:4", 6)};

}  // namespace tollbar::bench
