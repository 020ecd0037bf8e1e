// SPDX-License-Identifier: Apache-2.0
// Everybody puts a page about itself to everybody; what follows from the pages is the same for all.
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

using c_door::Refusal;

namespace {

/// What a PE tells the others of itself.
struct Page {
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

Page page_of(const Proposal& proposal, const std::string& chosen) {
    Page page{};
    page.error = proposal.refusal.error;
    c_door::write_text(proposal.refusal.line, page.line.data(), page.line.size());
    if (page.error != 0 || !proposal.members.self) return page;
    page.signals = proposal.signals;
    page.tag = proposal.tag;
    page.size = proposal.members.size();
    page.first = proposal.members.pes.front();
    page.group = proposal.members.hash();
    page.explicit_plan = proposal.plan.empty() ? 0 : 1;
    if (!c_door::write_text(proposal.plan.empty() ? chosen : proposal.plan, page.plan.data(), page.plan.size()))
        page.error = EINVAL;
    return page;
}

void exchange_pages(std::span<Page> pages, const Page& mine) {
    const int self = shmem_my_pe();
    for (int pe = 0; pe < shmem_n_pes(); ++pe)
        shmem_putmem(&pages[static_cast<std::size_t>(self)], &mine, sizeof mine, pe);
    shmem_barrier_all();
}

std::string pe(std::size_t number) { return "PE " + std::to_string(number); }

/// The plan of a group: what one of its PEs named, else what its first PE chose.
const char* plan_of_group(std::span<const Page> pages, const Page& page) {
    const auto named = std::ranges::find_if(
        pages, [&](const Page& other) { return other.size != 0 && other.group == page.group && other.explicit_plan; });
    return named == pages.end() ? pages[static_cast<std::size_t>(page.first)].plan.data() : named->plan.data();
}

void demand_same(std::span<const Page> pages, std::size_t one, std::size_t other) {
    const Page &a = pages[one], &b = pages[other];
    std::string what;
    if (a.signals != b.signals) what = "another way of signalling";
    if (a.tag != b.tag) what = "another tag";
    if (a.explicit_plan && b.explicit_plan && std::strcmp(a.plan.data(), b.plan.data()) != 0)
        what = std::string("the plan ") + b.plan.data() + " instead of " + a.plan.data();
    if (!what.empty()) throw Refusal{EPROTO, pe(other) + " makes this barrier with " + what + " than " + pe(one)};
}

/// Throws what is wrong between the PEs, the same on all of them.
void demand_agreement(std::span<const Page> pages) {
    for (std::size_t i = 0; i < pages.size(); ++i)
        if (pages[i].error != 0)
            throw Refusal{pages[i].error, i == static_cast<std::size_t>(shmem_my_pe())
                                              ? std::string(pages[i].line.data())
                                              : pe(i) + ": " + pages[i].line.data()};
    for (std::size_t i = 0; i < pages.size(); ++i) {
        if (pages[i].size == 0) continue;
        Rank same = 0;
        for (std::size_t j = 0; j < pages.size(); ++j) {
            if (pages[j].size == 0 || pages[j].group != pages[i].group) continue;
            ++same;
            demand_same(pages, i, j);
        }
        if (same != pages[i].size)
            throw Refusal{EPROTO, pe(i) + " names a group of " + std::to_string(pages[i].size) + " PEs, but only " +
                                      std::to_string(same) + " of them name it"};
    }
}

/// Slots for the most demanding of the groups.
std::uint32_t most_slots(std::span<const Page> pages) {
    std::map<std::pair<std::string, Rank>, std::uint32_t> of;  // of what was seen already
    std::uint32_t most = 0;
    for (const Page& page : pages) {
        if (page.size == 0) continue;
        auto [place, is_new] = of.try_emplace({plan_of_group(pages, page), page.size}, 0);
        if (is_new) place->second = slots_needed(place->first.first, page.size);
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
        const HeapPiece table(count * sizeof(Page));
        const std::span pages(static_cast<Page*>(table.get()), count);
        const bool chooses = proposal.refusal.error == 0 && proposal.plan.empty() && proposal.members.self;
        exchange_pages(pages, page_of(proposal, chooses ? choose(table.get()) : ""));
        demand_agreement(pages);
        slots = most_slots(pages);
        if (proposal.members.self) plan = plan_of_group(pages, pages[static_cast<std::size_t>(shmem_my_pe())]);
    }
    HeapPiece memory(Block::bytes_for(slots));
    return {plan, Block(memory.release(), slots)};
}

}  // namespace tollbar::shmem
