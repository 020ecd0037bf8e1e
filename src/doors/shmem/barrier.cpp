// SPDX-License-Identifier: Apache-2.0
// Makes and destroys barriers, and describes them.
#include "barrier.hpp"

#include "choice.hpp"
#include "registry.hpp"

#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/say.h"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unistd.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::shmem;
using c_door::fail;
using c_door::guarded;
using c_door::Refusal;

namespace {

/// Tells the barriers of one block apart: group and tag in the upper half of the signature, plan in the lower.
std::uint64_t identity_of(const Agreement& agreement, unsigned tag, std::uint64_t number) {
    const auto signals = static_cast<std::uint64_t>(agreement.signals) << 1 | (agreement.shared ? 1 : 0);
    const std::uint64_t who = hash_of(&number, sizeof number, agreement.members.hash() ^ tag);
    const std::uint64_t what = hash_of(agreement.spelling.data(), agreement.spelling.size(), signals);
    const Signature signature = signature_of(who, what);
    return ((who ^ what) >> 32) << 32 | signature;
}

/// Makes one of create's barriers or, with number 0, one of create_in's.
tollbar_shmem_barrier* make_barrier(const Agreement& agreement, const tollbar_shmem_options& options,
                                    std::uint64_t number) {
    int level = SHMEM_THREAD_SINGLE;
    shmem_query_thread(&level);
    const bool any_thread = level == SHMEM_THREAD_SERIALIZED || level == SHMEM_THREAD_MULTIPLE;
    auto barrier = std::make_unique<tollbar_shmem_barrier>(agreement, any_thread);
    const auto& [members, signals, shared, spelling, block] = agreement;
    barrier->sync_only = options.sync_only != 0;
    barrier->owns_memory = number != 0;
    if (!members.self) return barrier.release();
    barrier->engine = options.engine != 0;
    if (*members.self == 0 && environment::verbosity() > 0)
        tollbar_say("barrier of %u PEs: %s", static_cast<unsigned>(members.size()), spelling.c_str());
    barrier->identity = identity_of(agreement, options.tag, number);
    const Occupancy occupancy = crowded_here(block.words()) ? Occupancy::oversubscribed : Occupancy::exclusive;
    const wait_policy named = c_door::policy_of(options.wait);
    const wait_policy wait = named == wait_policy::automatic ? environment::wait() : named;
    ShmemTransport transport(block, members.pes, signals, shared, static_cast<Signature>(barrier->identity),
                             wait_budget_for<NativeSync>(wait, occupancy), 0);
    barrier->plan = make_plan(spelling, members.size());
    const std::vector<shmem::Step> placed = steps_of(*barrier->plan, *members.self);
    barrier->steps = transport.locate(placed);
    barrier->one_shot = is_one_shot(placed);
    barrier->runner.emplace(barrier->steps.data(), static_cast<std::uint32_t>(barrier->steps.size()), Episode{0},
                            BarrierTransport(std::move(transport), *barrier));
    register_barrier(*barrier);
    block.name(barrier->identity, 0, {static_cast<std::uint64_t>(getpid()), start_of(getpid())});
    return barrier.release();
}

/// Barriers made by create, in the order in which all PEs make them.
std::uint64_t created = 0;

std::string choose_plan(const tollbar_shmem_options& options, bool shared, Rank pes, bool crowded) {
    const Signals signals = signals_of(options, shared);
    const std::string named = named_plan(options, pes);
    return named.empty() ? default_plan(signals, shared, pes, crowded) : named;
}

std::size_t bytes_for(const tollbar_shmem_options& options, Rank pes) {
    std::uint32_t slots = 0;
    for (const bool shared : {false, true})
        for (const bool crowded : {false, true})
            slots = std::max(slots, slots_needed(choose_plan(options, shared, pes, crowded), pes));
    return Block::bytes_for(slots);
}

void demand_symmetric(void* memory, std::size_t bytes, const Members& members) {
    auto* const last = static_cast<char*>(memory) + bytes - 1;
    for (const int pe : members.pes)
        if (shmem_addr_accessible(memory, pe) == 0 || shmem_addr_accessible(last, pe) == 0)
            throw Refusal{EFAULT, "the memory is not symmetric: " + pe_text(pe) +
                                      " cannot be reached there; take it from shmem_malloc or shmem_align"};
}

}  // namespace

int tollbar_shmem_barrier_create(const tollbar_shmem_group* group, const tollbar_shmem_options* options,
                                 tollbar_shmem_barrier** barrier) {
    if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
    return guarded([&] {
        const tollbar_shmem_options wanted = c_door::given(options);
        *barrier = make_barrier(agree(group, wanted), wanted, ++created);
    });
}

size_t tollbar_shmem_barrier_bytes(const tollbar_shmem_group* group, const tollbar_shmem_options* options) {
    std::size_t bytes = 0;
    guarded([&] { bytes = bytes_for(c_door::given(options), members_of(group).size()); });
    return bytes;
}

int tollbar_shmem_barrier_create_in(void* memory, size_t bytes, const tollbar_shmem_group* group,
                                    const tollbar_shmem_options* options, tollbar_shmem_barrier** barrier) {
    if (barrier == nullptr || memory == nullptr)
        return fail(EINVAL, barrier == nullptr ? "barrier is NULL" : "memory is NULL");
    return guarded([&] {
        const tollbar_shmem_options wanted = c_door::given(options);
        const Members members = members_of(group);
        if (!members.self) throw Refusal{ESRCH, pe_text(shmem_my_pe()) + " is not in the group"};
        if (reinterpret_cast<std::uintptr_t>(memory) % alignof(std::uint64_t) != 0)
            throw Refusal{EINVAL, "the memory is not aligned to 8 bytes"};
        if (const std::size_t needed = bytes_for(wanted, members.size()); bytes < needed)
            throw Refusal{ENOMEM,
                          "the barrier needs " + std::to_string(needed) + " bytes, there are " + std::to_string(bytes)};
        demand_symmetric(memory, bytes, members);
        demand_engine(wanted);
        const bool shared = shares_memory(members.pes, memory);
        const std::string plan = choose_plan(wanted, shared, members.size(), crowded_here(memory));
        const Block block(memory, slots_needed(plan, members.size()));
        *barrier = make_barrier({members, signals_of(wanted, shared), shared, plan, block}, wanted, 0);
    });
}

int tollbar_shmem_barrier_destroy(tollbar_shmem_barrier* barrier) {
    if (barrier == nullptr) return 0;
    if (!barrier->lock.enter()) return fail(EPERM, "destroy: not by this thread, or another one is inside");
    if (barrier->open && barrier->fault == 0) {
        barrier->lock.leave();
        return guarded([&] {
            throw Refusal{EBUSY,
                          "destroy while an episode is open on " + pe_text(shmem_my_pe()) + ": wait for its end first"};
        });
    }
    unregister_barrier(*barrier);
    barrier->block.name(0, 0, {});
    if (barrier->owns_memory) shmem_free(barrier->block.words());
    delete barrier;
    return 0;
}

tollbar_shmem_progress tollbar_shmem_barrier_progress(const tollbar_shmem_barrier* barrier) {
    const bool by_post = barrier != nullptr && barrier->runner && barrier->one_shot;
    return by_post ? TOLLBAR_SHMEM_PROGRESS_POST : TOLLBAR_SHMEM_PROGRESS_CALLS;
}

const char* tollbar_shmem_barrier_plan(const tollbar_shmem_barrier* barrier) {
    return barrier == nullptr ? nullptr : barrier->spelling.c_str();
}

tollbar_shmem_signals tollbar_shmem_barrier_signals(const tollbar_shmem_barrier* barrier) {
    return barrier == nullptr ? TOLLBAR_SHMEM_AUTO : static_cast<tollbar_shmem_signals>(barrier->signals);
}

uint64_t tollbar_shmem_barrier_episode(const tollbar_shmem_barrier* barrier) {
    return barrier == nullptr || !barrier->runner ? 0 : barrier->runner->episode();
}

const char* tollbar_shmem_last_error(void) { return c_door::last_error(); }
