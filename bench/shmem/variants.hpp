// SPDX-License-Identifier: Apache-2.0
// tollbar's split barriers of OpenSHMEM: every way of signalling, in several rounds and in one shot.
#pragma once

#include "candidate.hpp"
#include "counters.hpp"

#include <tollbar/shmem.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::bench {

enum class Shot : std::uint8_t {
    chosen,  ///< whatever plan the library takes
    rounds,  ///< dissemination, one signal a round
    one,     ///< dissemination in one round: everybody tells everybody
    counter  ///< everybody counts up one word, the last one releases
};

struct Variant {
    const char* name;  ///< of the plan
    const char* how;   ///< of the signals; stands where other programs name the waiting policy
    Shot shot;
    tollbar_shmem_signals signals;
    const CounterKind* counters;  ///< null: the library's barrier
    int engine;
};

/// The variants that this OpenSHMEM can do among the PEs of this job. The others go to `skipped` with the library's own
/// words. Collective.
std::vector<Variant> variants(std::vector<Skipped>& skipped);

inline Label label_of(const Variant& variant) { return {variant.name, "split", variant.how}; }

/// One of them among all PEs. Making it is collective and throws std::runtime_error, everywhere or nowhere.
class VariantSplit {
public:
    explicit VariantSplit(const Variant& variant);
    ~VariantSplit() { tollbar_shmem_barrier_destroy(barrier_); }  // NULL where the counters are in use
    VariantSplit(const VariantSplit&) = delete;
    VariantSplit& operator=(const VariantSplit&) = delete;

    void post() noexcept { counters_ ? counters_->post() : void(tollbar_shmem_barrier_post(barrier_)); }
    bool test() noexcept { return counters_ ? counters_->test() : tollbar_shmem_barrier_test(barrier_) != EAGAIN; }
    void wait() noexcept { counters_ ? counters_->wait() : void(tollbar_shmem_barrier_wait(barrier_)); }

private:
    tollbar_shmem_barrier* barrier_ = nullptr;
    std::optional<CounterBarrier> counters_;
};

}  // namespace tollbar::bench
