// SPDX-License-Identifier: Apache-2.0
// Turns a plan into steps over symmetric memory and takes them.
#include "course.hpp"

#include <algorithm>
#include <type_traits>

namespace tollbar::shmem {

namespace {

/// 0: as many as there are.
unsigned most_outstanding(Signals signals) {
    switch (signals) {
        case Signals::posted_1: return 1;
        case Signals::posted_2: return 2;
        case Signals::posted_4: return 4;
        default: return 0;
    }
}

// Not every OpenSHMEM has the atomics by the names of fixed width.
static_assert(std::is_same_v<unsigned, std::uint32_t> && std::is_same_v<unsigned long, std::uint64_t>);

std::uint32_t* half(std::uint64_t* word) { return reinterpret_cast<std::uint32_t*>(word); }

}  // namespace

Course::Course(Block block, std::span<const int> pes, Rank self, const Task& task)
    : block_(block), signature_(task.signature), by_slots_(by_slots(task.signals)),
      most_outstanding_(most_outstanding(task.signals)), episode_(task.before), members_(pes.size()) {
    near_ = std::ranges::all_of(pes, [&](int pe) { return shmem_ptr(block.words(), pe) != nullptr; });
    if (task.plan) {
        add_plan(self, pes, *task.plan, task.signals);
    } else {
        add_count_and_release(self, pes);
    }
    next_ = steps_.size();
}

void Course::add_plan(Rank self, std::span<const int> pes, const Plan& plan, Signals signals) {
    const bool hears_by_slots = by_slots(signals);
    const auto counted = signals == Signals::amo32 ? Deed::heard_32 : Deed::heard_64;
    bool has_awaited = false;
    for (const Wire& one : wire(plan, self)) {
        if (one.sends) {
            add_tell(pes[one.peer], one.slot, signals);
            if (has_awaited) one_shot_ = false;
            continue;
        }
        has_awaited = true;
        std::uint64_t* const first = block_.slot(0, one.slot);
        steps_.push_back({.deed = hears_by_slots ? Deed::hear : counted,
                          .pe = pes[one.peer],
                          .skip = 0,
                          .slot = {first, hears_by_slots ? block_.slot(1, one.slot) : first}});
    }
    if (hears_by_slots) return;
    // The counters go back to where they were, by AMOs too: what a network card adds to it may keep to itself.
    const auto back = signals == Signals::amo32 ? Deed::take_32 : Deed::take_64;
    std::vector<Step> taken;
    for (const Step& step : steps_)
        if (step.deed == counted)
            taken.push_back({.deed = back, .pe = pes[self], .skip = 0, .slot = {step.slot[0], step.slot[0]}});
    steps_.insert(steps_.end(), taken.begin(), taken.end());
    if (!taken.empty()) steps_.push_back({.deed = Deed::complete, .pe = pes[self], .skip = 0, .slot = {}});
}

void Course::add_tell(int pe, std::uint32_t slot, Signals signals) {
    std::uint64_t* first = block_.slot(0, slot);
    std::uint64_t* second = by_slots_ ? block_.slot(1, slot) : first;
    Deed deed = Deed::put;
    switch (signals) {
        case Signals::puts: break;
        case Signals::amo32: deed = Deed::add32; break;
        case Signals::amo64: deed = Deed::add; break;
        case Signals::stores:
            if (void* there = shmem_ptr(first, pe); there != nullptr) {
                deed = Deed::store;
                first = static_cast<std::uint64_t*>(there);
                second = static_cast<std::uint64_t*>(shmem_ptr(second, pe));
            }
            break;
        default: deed = Deed::post;
    }
    steps_.push_back({.deed = deed, .pe = pe, .skip = 0, .slot = {first, second}});
}

void Course::add_count_and_release(Rank self, std::span<const int> pes) {
    const auto others = static_cast<std::uint32_t>(pes.size() - 1);
    std::uint64_t* const slots[] = {block_.slot(0, 0), block_.slot(1, 0)};
    steps_.push_back(
        {.deed = Deed::count, .pe = pes.front(), .skip = others + 1, .slot = {block_.counter(), block_.counter()}});
    for (Rank member = 0; member < pes.size(); ++member)
        if (member != self)
            steps_.push_back({.deed = Deed::put, .pe = pes[member], .skip = 0, .slot = {slots[0], slots[1]}});
    // The last one to come has nobody to hear; the others skip the release.
    steps_.push_back({.deed = Deed::complete, .pe = pes[self], .skip = 1, .slot = {}});
    steps_.push_back({.deed = Deed::hear, .pe = pes[self], .skip = 0, .slot = {slots[0], slots[1]}});
}

bool Course::take(const Step& step) noexcept {
    switch (step.deed) {
        case Deed::put: shmem_uint64_p(step.slot[phase_], word_, step.pe); return true;
        case Deed::store:
            // Pairs with the acquire in heard().
            std::atomic_ref(*step.slot[phase_]).store(word_, std::memory_order_release);
            return true;
        case Deed::add32: shmem_uint_atomic_inc(half(step.slot[0]), step.pe); return true;
        case Deed::add: shmem_ulong_atomic_fetch_inc(step.slot[0], step.pe); return true;
        case Deed::post: post(step); return true;
        case Deed::hear:
        case Deed::heard_32:
        case Deed::heard_64: return heard(step);
        case Deed::take_32:
            shmem_uint_atomic_add(half(step.slot[0]), static_cast<std::uint32_t>(-1), step.pe);
            return true;
        case Deed::take_64: shmem_ulong_atomic_add(step.slot[0], static_cast<std::uint64_t>(-1), step.pe); return true;
        case Deed::complete:
            shmem_quiet();
            next_ += step.skip;
            return true;
        case Deed::count: count(step); return true;
    }
    return true;
}

bool Course::heard(const Step& step) noexcept {
    std::uint64_t* const slot = step.slot[phase_];
    const bool come = step.deed == Deed::hear       ? shmem_uint64_test(slot, SHMEM_CMP_EQ, word_) != 0
                      : step.deed == Deed::heard_32 ? shmem_uint32_test(half(slot), SHMEM_CMP_NE, 0) != 0
                                                    : shmem_uint64_test(slot, SHMEM_CMP_NE, 0) != 0;
    // Pairs with the other PE's quiet before it told, or with the release of its store.
    if (come) std::atomic_thread_fence(std::memory_order_acquire);
    return come;
}

void Course::post(const Step& step) noexcept {
    if (most_outstanding_ != 0 && outstanding_ == most_outstanding_) {
        shmem_quiet();
        outstanding_ = 0;
    }
    shmem_ulong_atomic_inc(step.slot[0], step.pe);
    ++outstanding_;
}

void Course::count(const Step& step) noexcept {
    counted_ += members_;
    const std::uint64_t count = shmem_ulong_atomic_fetch_inc(step.slot[0], step.pe) + 1;
    if (count == counted_) return;  // the last: goes on to release the others
    if (static_cast<std::int64_t>(count - counted_) > 0) overcount_ = count;
    next_ += step.skip;
}

bool Course::has_told(std::uint32_t slot) const noexcept {
    if (!by_slots_) return false;
    const std::uint64_t word = std::atomic_ref(*block_.slot(phase_, slot)).load(std::memory_order_relaxed);
    return read_slot(word, phase_, signature_, episode_) == Reading::heard;
}

std::optional<Course::Fault> Course::fault() const noexcept {
    if (!by_slots_) return std::nullopt;
    if (overcount_ != 0) return Fault{Reading::impossible, overcount_, 0};
    for (unsigned phase = 0; phase < phases; ++phase)
        for (std::uint32_t index = 0; index < block_.slots(); ++index) {
            const std::uint64_t word = std::atomic_ref(*block_.slot(phase, index)).load(std::memory_order_acquire);
            const Reading reading = read_slot(word, phase, signature_, episode_);
            if (reading == Reading::foreign || reading == Reading::impossible) return Fault{reading, word, index};
        }
    return std::nullopt;
}

}  // namespace tollbar::shmem
