// SPDX-License-Identifier: Apache-2.0
// Every PE puts its facts to every other; what follows from them is the same on all.
#include "agreement.hpp"

#include "choice.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace tollbar::shmem {

using runtime::Refusal;

namespace {

/// What a PE tells the others of itself.
struct PeFacts {
    int error;
    int signals;
    unsigned tag;
    Rank size;            ///< of its group; 0 outside
    int first;            ///< PE of its group
    std::uint64_t group;  ///< hash
    char explicit_plan;
    std::array<char, 63> plan;
    std::array<char, 128> line;  ///< the error's
};

std::string too_small(std::size_t bytes) {
    return "the symmetric heap has no " + std::to_string(bytes) +
           " bytes left for a barrier: set SHMEM_SYMMETRIC_SIZE (Open MPI: also SMA_SYMMETRIC_SIZE) higher";
}

/// Symmetric memory, zero; given back collectively unless released.
class HeapPiece {
public:
    explicit HeapPiece(std::size_t bytes) : memory_(shmem_align(alignment, bytes)) {
        if (memory_ == nullptr) throw Refusal{ENOMEM, too_small(bytes)};
        std::memset(memory_, 0, bytes);
        shmem_barrier_all();
    }
    ~HeapPiece() {
        if (memory_ != nullptr) shmem_free(memory_);
    }
    HeapPiece(const HeapPiece&) = delete;
    HeapPiece& operator=(const HeapPiece&) = delete;

    void* get() const noexcept { return memory_; }
    void* release() noexcept { return std::exchange(memory_, nullptr); }

private:
    static constexpr std::size_t alignment = 128;
    void* memory_;
};

PeFacts facts_of(const Proposal& proposal, const std::string& chosen) {
    PeFacts facts{};
    facts.error = proposal.refusal.error;
    runtime::write_text(proposal.refusal.line, facts.line.data(), facts.line.size());
    if (facts.error != 0 || !proposal.members.self) return facts;
    facts.signals = proposal.signals;
    facts.tag = proposal.tag;
    facts.size = proposal.members.size();
    facts.first = proposal.members.pes.front();
    facts.group = proposal.members.hash();
    facts.explicit_plan = proposal.plan.empty() ? 0 : 1;
    if (!runtime::write_text(proposal.plan.empty() ? chosen : proposal.plan, facts.plan.data(), facts.plan.size()))
        facts.error = EINVAL;
    return facts;
}

void share_facts(std::span<PeFacts> all, const PeFacts& mine) {
    const int self = shmem_my_pe();
    for (int pe = 0; pe < shmem_n_pes(); ++pe)
        shmem_putmem(&all[static_cast<std::size_t>(self)], &mine, sizeof mine, pe);
    shmem_barrier_all();
}

std::string pe(std::size_t number) { return "PE " + std::to_string(number); }

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
    if (a.signals != b.signals) what = "kinds of signals";
    if (a.tag != b.tag) what = "tags";
    if (a.explicit_plan && b.explicit_plan && std::strcmp(a.plan.data(), b.plan.data()) != 0)
        what = std::string("plans (") + a.plan.data() + ", " + b.plan.data() + ")";
    if (!what.empty())
        throw Refusal{EPROTO, pe(one) + " and " + pe(other) + " make this barrier with different " + what};
}

/// Throws what is wrong between the PEs, the same on all of them.
void demand_agreement(std::span<const PeFacts> all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].error != 0)
            throw Refusal{all[i].error, i == static_cast<std::size_t>(shmem_my_pe())
                                            ? std::string(all[i].line.data())
                                            : pe(i) + ": " + all[i].line.data()};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].size == 0) continue;
        Rank same = 0;
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (all[j].size == 0 || all[j].group != all[i].group) continue;
            ++same;
            demand_same(all, i, j);
        }
        if (same != all[i].size)
            throw Refusal{EPROTO, pe(i) + " names a group of " + std::to_string(all[i].size) + " PEs, but only " +
                                      std::to_string(same) + " of them name it"};
    }
}

/// Slots for the most demanding of the groups.
std::uint32_t most_slots(std::span<const PeFacts> all) {
    std::map<std::pair<std::string, Rank>, std::uint32_t> of;  // of what was seen already
    std::uint32_t most = 0;
    for (const PeFacts& facts : all) {
        if (facts.size == 0) continue;
        auto [place, is_new] = of.try_emplace({plan_of_group(all, facts), facts.size}, 0);
        if (is_new) place->second = slots_needed(place->first.first, facts.size);
        most = std::max(most, place->second);
    }
    return most;
}

}  // namespace

Agreed agree(const Proposal& proposal, const std::function<std::string(const void* symmetric)>& choose) {
    const auto count = static_cast<std::size_t>(shmem_n_pes());
    std::uint32_t slots = 0;
    std::string plan;
    {
        const HeapPiece table(count * sizeof(PeFacts));
        const std::span all(static_cast<PeFacts*>(table.get()), count);
        const bool chooses = proposal.refusal.error == 0 && proposal.plan.empty() && proposal.members.self;
        share_facts(all, facts_of(proposal, chooses ? choose(table.get()) : ""));
        demand_agreement(all);
        slots = most_slots(all);
        if (proposal.members.self) plan = plan_of_group(all, all[static_cast<std::size_t>(shmem_my_pe())]);
    }
    HeapPiece memory(Block::bytes_for(slots));
    return {plan, Block(memory.release(), slots)};
}

}  // namespace tollbar::shmem
