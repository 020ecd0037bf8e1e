// SPDX-License-Identifier: Apache-2.0
// Lists the PEs and refuses those that do not exist or are named twice.
#include "group.hpp"

#include "base/error.hpp"
#include "base/fnv.hpp"

#include <algorithm>
#include <cerrno>

namespace tollbar::detail::shmem {

using c_door::Refusal;

namespace {

std::vector<int> pes_of(const tollbar_shmem_group& group) {
    if (group.size < 1) throw Refusal{EINVAL, "a group has at least 1 PE, not " + std::to_string(group.size)};
    if (group.pes != nullptr) return {group.pes, group.pes + group.size};
    if (group.stride < 1) throw Refusal{EINVAL, "the stride is 1 or more, not " + std::to_string(group.stride)};
    if (group.size > shmem_n_pes())
        throw Refusal{
            ESRCH, "a group of " + std::to_string(group.size) + " PEs, but there are " + std::to_string(shmem_n_pes())};
    std::vector<int> pes;
    for (std::int64_t i = 0; i < group.size; ++i)
        pes.push_back(static_cast<int>(std::clamp<std::int64_t>(group.start + i * group.stride, -1, shmem_n_pes())));
    return pes;
}

bool names_nothing(const tollbar_shmem_group* group) {
    return group == nullptr || (group->pes == nullptr && group->start == 0 && group->stride == 0 && group->size == 0);
}

}  // namespace

std::uint64_t hash_of(const void* text, std::size_t bytes, std::uint64_t seed) noexcept {
    return fnv1a({static_cast<const std::byte*>(text), bytes}, seed ^ fnv_start);
}

std::uint64_t Members::hash() const noexcept { return hash_of(pes.data(), pes.size() * sizeof pes.front(), 0); }

Members members_of(const tollbar_shmem_group* group) {
    const tollbar_shmem_group all{.pes = nullptr, .start = 0, .stride = 1, .size = shmem_n_pes()};
    Members members{.pes = pes_of(names_nothing(group) ? all : *group), .self = std::nullopt};
    for (const int pe : members.pes)
        if (pe < 0 || pe >= shmem_n_pes())
            throw Refusal{ESRCH, "the group names a PE that does not exist (" + std::to_string(pe) +
                                     "): there are 0.." + std::to_string(shmem_n_pes() - 1)};
    std::vector<int> sorted = members.pes;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw Refusal{EINVAL, "the group names " + pe_text(*twice) + " twice"};
    const auto self = std::ranges::find(members.pes, shmem_my_pe());
    if (self != members.pes.end()) members.self = static_cast<Rank>(self - members.pes.begin());
    return members;
}

}  // namespace tollbar::detail::shmem
