// SPDX-License-Identifier: Apache-2.0
// Every PE puts its facts to every other, and all PEs derive the same barrier from them.
#include "agreement.hpp"

#include "choice.hpp"

#include "base/c_door.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

namespace tollbar::detail::shmem {

using c_door::Refusal;

namespace {

/// The facts of one PE, which it puts to all others.
struct PeFacts {
    int error;
    int wanted_signals;
    char shared;  ///< the memory of all PEs of the group lies in its own
    unsigned tag;
    Rank size;            ///< of its group; 0 outside
    int first;            ///< PE of its group
    std::uint64_t group;  ///< hash
    std::uint32_t slots;  ///< that its plan needs
    char explicit_plan;
    std::array<char, 63> plan;
    std::array<char, 128> line;  ///< the error's
};

/// Zero on all PEs; given back collectively.
using SymmetricMemory = std::unique_ptr<void, void (*)(void*)>;

SymmetricMemory allocate(std::size_t bytes) {
    constexpr std::size_t alignment = 128;
    SymmetricMemory memory(shmem_align(alignment, bytes), shmem_free);
    if (!memory)
        throw Refusal{ENOMEM, "the symmetric heap has no " + std::to_string(bytes) +
                                  " bytes left for a barrier: set SHMEM_SYMMETRIC_SIZE (Open MPI: also "
                                  "SMA_SYMMETRIC_SIZE) higher"};
    std::memset(memory.get(), 0, bytes);
    shmem_barrier_all();
    return memory;
}

/// Throws where the caller's arguments are wrong. `symmetric` is any symmetric address.
PeFacts facts_of(const Agreement& own, const tollbar_shmem_options& options, const void* symmetric) {
    const std::string named = named_plan(options, own.members.size());
    c_door::policy_of(options.wait);
    c_door::demand_known(options);
    if (!own.members.self) return {};
    PeFacts facts{};
    facts.wanted_signals = options.signals;
    facts.tag = options.tag;
    facts.size = own.members.size();
    facts.first = own.members.pes.front();
    facts.group = own.members.hash();
    facts.explicit_plan = named.empty() ? 0 : 1;
    facts.shared = shares_memory(own.members.pes, symmetric) ? 1 : 0;
    const Signals signals = signals_of(options, facts.shared != 0);
    const std::string plan = named.empty()
                                 ? default_plan(signals, facts.shared != 0, facts.size, crowded_here(symmetric))
                                 : named;
    if (!c_door::write_text(plan, facts.plan.data(), facts.plan.size()))
        throw Refusal{EINVAL, "the plan's spelling is too long: " + plan};
    facts.slots = slots_needed(plan, facts.size);
    return facts;
}

/// The plan of a group: what one of its PEs named, else what its first PE chose.
const char* plan_of_group(std::span<const PeFacts> all, const PeFacts& facts) {
    const auto named = std::ranges::find_if(all, [&](const PeFacts& other) {
        return other.size != 0 && other.group == facts.group && other.explicit_plan;
    });
    return named == all.end() ? all[static_cast<std::size_t>(facts.first)].plan.data() : named->plan.data();
}

void demand_same(std::span<const PeFacts> all, std::size_t one, std::size_t other) {
    const PeFacts &a = all[one], &b = all[other];
    std::string what;
    if (a.wanted_signals != b.wanted_signals) what = "kinds of signals";
    if (a.tag != b.tag) what = "tags";
    if (a.explicit_plan && b.explicit_plan && std::strcmp(a.plan.data(), b.plan.data()) != 0)
        what = std::string("plans (") + a.plan.data() + ", " + b.plan.data() + ")";
    if (!what.empty())
        throw Refusal{EPROTO, pe_text(one) + " and " + pe_text(other) + " make this barrier with different " + what};
}

/// Throws what is wrong between the PEs, the same on all of them.
void demand_agreement(std::span<const PeFacts> all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].error != 0)
            throw Refusal{all[i].error, i == static_cast<std::size_t>(shmem_my_pe())
                                            ? std::string(all[i].line.data())
                                            : pe_text(i) + ": " + all[i].line.data()};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].size == 0) continue;
        Rank same = 0;
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (all[j].size == 0 || all[j].group != all[i].group) continue;
            ++same;
            demand_same(all, i, j);
        }
        if (same != all[i].size)
            throw Refusal{EPROTO, pe_text(i) + " names a group of " + std::to_string(all[i].size) + " PEs, but only " +
                                      std::to_string(same) + " of them name it"};
    }
}

}  // namespace

Agreement agree(const tollbar_shmem_group* group, const tollbar_shmem_options& options) {
    const auto count = static_cast<std::size_t>(shmem_n_pes()), self = static_cast<std::size_t>(shmem_my_pe());
    SymmetricMemory table = allocate(count * sizeof(PeFacts));
    const std::span all(static_cast<PeFacts*>(table.get()), count);
    Agreement agreement;
    PeFacts mine{};
    const Refusal refusal = c_door::refusal_of([&] {
        agreement.members = members_of(group);
        demand_engine(options);
        mine = facts_of(agreement, options, table.get());
    });
    mine.error = refusal.error;
    c_door::write_text(refusal.line, mine.line.data(), mine.line.size());
    for (int pe = 0; pe < shmem_n_pes(); ++pe) shmem_putmem(&all[self], &mine, sizeof mine, pe);
    shmem_barrier_all();
    demand_agreement(all);
    if (agreement.members.self) agreement.spelling = plan_of_group(all, mine);
    agreement.shared = std::ranges::all_of(
        all, [&](const PeFacts& other) { return other.group != mine.group || other.shared != 0; });
    agreement.signals = signals_of(options, agreement.shared);
    const std::uint32_t slots = std::ranges::max(all, {}, &PeFacts::slots).slots;
    table.reset();
    agreement.block = Block(allocate(Block::bytes_for(slots)).release(), slots);
    return agreement;
}

}  // namespace tollbar::detail::shmem
