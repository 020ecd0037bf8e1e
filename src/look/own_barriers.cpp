// SPDX-License-Identifier: Apache-2.0
// Copies objects of the library out of another process and reads them by the library's own headers. A layout of another
// version fails its checks.
#include "own_barriers.hpp"

#include "transports/words/segment.hpp"
#include "transports/words/shared_file.hpp"
#include "waiting/gate.hpp"
#include "waiting/meeting.hpp"

#include <tollbar/detail/leaves.hpp>
#include <tollbar/detail/turnstile.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <new>

namespace tollbar::detail {

/// The futex that a thread sleeps on: the value that it has seen there, and the mask of the wakes that it waits for.
struct Slept {
    std::uint64_t at;
    std::uint32_t seen, mask;
};

/// The state of a barrier, for who takes no part in it.
struct Outside {
    using Gate = detail::Gate<NativeSync, Scope::process>;  ///< gates of either scope begin alike
    using Turnstile = detail::Turnstile<NativeSync>;
    using Leaves = detail::Leaves<NativeSync>;

    struct State {
        std::uint64_t arrived, expected, phase;
    };

    static constexpr std::size_t word_of_gate = offsetof(Gate, word_);
    static constexpr std::size_t word_of_turnstile = offsetof(Turnstile, word_);
    static constexpr std::size_t word_of_leaf = offsetof(Leaves::Leaf, over);
    static constexpr std::size_t word_of_meeting = offsetof(Meeting, ended_);
    using Leaf = Leaves::Leaf;

    /// Whether a waiter for the end of `episode`, which the word reaches from `begin` on, sleeps so: it has seen any
    /// value since then, for an arrival wakes nobody.
    static bool sleeps(const Slept& slept, std::uint64_t begin, const Word<NativeSync>& word,
                       const SleeperCounts<NativeSync>& sleepers, std::uint64_t episode) {
        const std::uint64_t so_far = word.load(std::memory_order_relaxed) - begin;
        return slept.seen - static_cast<std::uint32_t>(begin) <= so_far &&
               slept.mask == SleeperCounts<NativeSync>::mask_of(episode) &&
               sleepers.look(std::memory_order_relaxed) != 0;
    }

    static std::optional<State> of(const Gate& one) {
        if (one.kind() != gate_kind(Scope::process) && one.kind() != gate_kind(Scope::shared)) return std::nullopt;
        if (one.expected() == 0) return std::nullopt;
        const std::uint64_t word = one.word_.load(std::memory_order_relaxed);
        return State{word % one.expected(), one.expected(), word / one.expected()};
    }

    static std::optional<State> of(const Turnstile& one, const Slept& slept) {
        const std::uint64_t closing = one.stride_ - one.expected_;
        if (one.expected_ == 0 || one.expected_ > Turnstile::max_expected || closing > 1) return std::nullopt;
        const std::uint64_t word = one.word_.load(std::memory_order_relaxed), phase = word / one.stride_;
        if (!sleeps(slept, phase * one.stride_, one.word_, one.sleepers_, phase + 1)) return std::nullopt;
        return State{word % one.stride_, one.expected_, phase};
    }

    static const Leaves* whole_of(const Leaf& leaf, const Slept& slept) {
        const std::uint64_t over = leaf.over.load(std::memory_order_relaxed);
        return leaf.size != 0 && sleeps(slept, over, leaf.over, leaf.sleepers, over + 1) ? leaf.of : nullptr;
    }

    static std::uint64_t first_leaf_of(const Leaves& one) { return std::bit_cast<std::uintptr_t>(one.leaf_.get()); }
    static std::uint32_t leaves_of(const Leaves& one) { return one.leaves_; }

    /// `leaf`: all of them.
    static std::optional<State> of(const Leaves& one, std::span<const Leaf> leaf, std::uint64_t over) {
        State state{0, one.expected_, over};
        std::uint64_t sizes = 0;
        for (const Leaf& each : leaf) {
            const std::uint64_t taken = each.taken.load(std::memory_order_relaxed), before = over * each.size;
            if (each.over.load(std::memory_order_relaxed) != over) return std::nullopt;  // a release is under way
            state.arrived += std::min(std::max(taken, before) - before, each.size);
            sizes += each.size;
        }
        return sizes == one.expected_ ? std::optional(state) : std::nullopt;
    }

    static std::optional<State> of(const Meeting& one, const Slept& slept) {
        const std::uint64_t ended = one.ended_.load(std::memory_order_relaxed);
        if (one.parties_ == 0 || one.parties_ > Meeting::max_parties || one.scope_ > Scope::shared) return std::nullopt;
        if (one.waiting() > one.parties_ || !sleeps(slept, ended, one.ended_, one.sleepers_, ended + 1))
            return std::nullopt;
        if (Meeting::phase(one.state_.load(std::memory_order_relaxed)) != static_cast<std::uint32_t>(ended))
            return std::nullopt;
        return State{one.waiting(), one.parties_, ended};
    }

    static bool shared(const Meeting& one) { return one.scope_ == Scope::shared; }
};

}  // namespace tollbar::detail

namespace tollbar::look {

namespace {

using detail::Meeting;
using detail::Outside;
using detail::Segment;
using detail::Slept;

constexpr std::size_t page = 4096;

/// A copy of objects of another process, which is never destroyed.
template <class T>
class Copy {
public:
    Copy(const Process& process, Address at, std::size_t count = 1) : lines_(of(process, at, count)), count_(count) {}

    explicit operator bool() const { return !lines_.empty(); }
    const T& operator*() const { return *first(); }
    std::span<const T> all() const { return {first(), count_}; }

private:
    static std::vector<LineCopy> of(const Process& process, Address at, std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (at % alignof(T) != 0 || !process.writable(at, bytes)) return {};
        std::vector<LineCopy> lines((bytes + sizeof(LineCopy) - 1) / sizeof(LineCopy));
        if (!process.read(at, std::as_writable_bytes(std::span(lines)).first(bytes))) return {};
        return lines;
    }

    const T* first() const { return std::launder(reinterpret_cast<const T*>(lines_.data())); }

    std::vector<LineCopy> lines_;
    std::size_t count_;
};

std::optional<Slept> slept_on(const Thread& thread) {
    if (!thread.waits_for_futex()) return std::nullopt;
    return Slept{thread.arguments[0], static_cast<std::uint32_t>(thread.arguments[2]),
                 static_cast<std::uint32_t>(thread.arguments[5])};
}

void add(Thread& thread, const char* kind, Address at, const std::optional<Outside::State>& state) {
    if (state && state->arrived != 0)
        thread.barriers.push_back({kind, at, static_cast<std::int64_t>(state->arrived),
                                   static_cast<std::int64_t>(state->expected), state->phase});
}

void add_leaves(const Process& process, Thread& thread, const char* kind, const Slept& slept) {
    const Address at = slept.at - Outside::word_of_leaf;
    const Copy<Outside::Leaf> leaf(process, at);
    const auto* const whole = leaf ? Outside::whole_of(*leaf, slept) : nullptr;
    if (whole == nullptr) return;
    const Copy<Outside::Leaves> leaves(process, std::bit_cast<Address>(whole));
    if (!leaves || Outside::leaves_of(*leaves) == 0 || Outside::leaves_of(*leaves) > (*leaves).expected()) return;
    const Address first = Outside::first_leaf_of(*leaves);
    const Address number = (at - first) / sizeof(Outside::Leaf);
    if (at < first || (at - first) % sizeof(Outside::Leaf) != 0 || number >= Outside::leaves_of(*leaves)) return;
    const Copy<Outside::Leaf> all(process, first, Outside::leaves_of(*leaves));
    if (!all) return;
    const std::uint64_t over = (*leaf).over.load(std::memory_order_relaxed);
    add(thread, kind, std::bit_cast<Address>(whole), Outside::of(*leaves, all.all(), over));
}

/// The memory of a group: its first address, which begins a page, and a copy of it.
struct Found {
    Address at = 0;
    std::vector<LineCopy> memory = {};
};

std::optional<Found> segment_around(const Process& process, Address inside) {
    std::vector<LineCopy> beginning(Segment::beginning / sizeof(LineCopy));
    const auto bytes = std::as_writable_bytes(std::span(beginning));
    for (Address at = inside / page * page; process.writable(at, page); at -= page) {
        if (!process.read(at, bytes)) return std::nullopt;
        const std::size_t size = Segment::bytes_of(bytes);
        if (size == 0) continue;
        if (size % sizeof(LineCopy) != 0 || inside - at >= size || !process.writable(at, size)) return std::nullopt;
        Found found{at, std::vector<LineCopy>(size / sizeof(LineCopy))};
        const auto all = std::as_writable_bytes(std::span(found.memory));
        if (!process.read(at, all) || !Segment::is_sound(all.data(), all.size())) return std::nullopt;
        return found;
    }
    return std::nullopt;
}

}  // namespace

void add_own(const Process& process, Thread& thread) {
    const auto slept = slept_on(thread);
    if (!slept) return;
    const Address turnstile = slept->at - Outside::word_of_turnstile;
    if (const Copy<Outside::Turnstile> one(process, turnstile); one)
        add(thread, "tollbar::barrier", turnstile, Outside::of(*one, *slept));
    const Address meeting = slept->at - Outside::word_of_meeting;
    if (const Copy<Meeting> one(process, meeting); one && thread.barriers.empty())
        add(thread, Outside::shared(*one) ? "tollbar.process_barrier" : "tollbar.Barrier", meeting,
            Outside::of(*one, *slept));
    if (thread.barriers.empty()) add_leaves(process, thread, "tollbar::barrier", *slept);
}

void add_gate(const Process& process, Thread& thread) {
    constexpr const char* kind = "pthread_barrier_t (tollbar)";
    const auto slept = slept_on(thread);
    if (!slept) return;
    const Address gate = slept->at - Outside::word_of_gate;
    if (const Copy<Outside::Gate> one(process, gate); one) add(thread, kind, gate, Outside::of(*one));
    if (thread.barriers.empty()) add_leaves(process, thread, kind, *slept);
}

void add_region(const Process& process, Thread& thread) {
    if (const auto slept = slept_on(thread)) add_leaves(process, thread, "OpenMP barrier (tollbar)", *slept);
}

std::optional<SeenGroup> group_of(const Process& process, const Thread& thread, const std::vector<SeenGroup>& known) {
    const auto slept = slept_on(thread);
    if (!slept || !thread.barriers.empty()) return std::nullopt;
    auto found = segment_around(process, slept->at);
    if (!found) return std::nullopt;
    const std::string name = detail::name_of_shared_file(process.file(found->at)), key = process.key(found->at);
    const auto same = [&](const SeenGroup& group) { return name.empty() ? group.key == key : group.name == name; };
    if (std::ranges::any_of(known, same)) return std::nullopt;
    SeenGroup group = read_group(Segment(std::as_writable_bytes(std::span(found->memory)).data()), name);
    group.key = key;
    return group;
}

}  // namespace tollbar::look
