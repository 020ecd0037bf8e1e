// SPDX-License-Identifier: Apache-2.0
// Layouts of glibc (2.25 and later), libgomp, libstdc++ (since GCC 11), libc++ and Boost (since 1.66) on x86-64, each
// with its own checks.
#include "barriers.hpp"

#include "own_barriers.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <set>
#include <sys/syscall.h>

namespace tollbar::look {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::int64_t most_members = 1 << 16;
constexpr std::string_view libcxx = "std::barrier (libc++)";

/// The qualified name of a function without arguments, those of templates, versions and return type: `void
/// go<std::barrier<> >(std::barrier<>&)` is `go`.
std::string name_of(std::string_view symbol) {
    std::string name;
    int depth = 0;
    for (std::size_t i = 0; i < symbol.size(); ++i) {
        const char c = symbol[i];
        if (c == '<' || c == '(') ++depth;
        if (depth == 0 && c == ' ') name.clear();  // what stood before was the return type
        if (depth == 0 && c == '@') break;
        if (depth == 0 && c != ' ') name += c;
        if ((c == '>' || c == ')') && depth > 0) --depth;  // that of operator-> has no other half
        if (c == ')' && depth == 0 && !name.empty() && !symbol.substr(i + 1).starts_with("::")) break;
    }
    return name;
}

/// Whether a frame is of a function of that name; one that ends so, "std::barrier::", is that of a class or namespace.
bool has_frame(const Thread& thread, std::string_view name) {
    return std::ranges::any_of(thread.frames, [&](const Frame& frame) {
        const std::string own = name_of(frame.symbol);
        return name.ends_with("::") ? own.starts_with(name) : own == name;
    });
}

/// Whether a frame is of a function in such a class or namespace, for such a type or in such a function's body.
bool has_frame_for(const Thread& thread, std::string_view start, std::string_view type) {
    return std::ranges::any_of(thread.frames, [&](const Frame& frame) {
        return name_of(frame.symbol).starts_with(start) && frame.symbol.find(type) != std::string::npos;
    });
}

bool begins_in(const Thread& thread, std::string_view module, std::size_t depth) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(depth, thread.frames.size()));
    return std::any_of(thread.frames.begin(), thread.frames.begin() + count,
                       [&](const Frame& frame) { return frame.module.starts_with(module); });
}

/// Values that may be or lead to an object's address: registers first, then words of the stack.
std::vector<Address> candidates(const Thread& thread, std::size_t stack_bytes) {
    std::vector<Address> values;
    if (thread.held()) values.assign(thread.saved.begin(), thread.saved.end());
    for (std::size_t at = 0; at + sizeof(Address) <= std::min(stack_bytes, thread.stack.size());
         at += sizeof(Address)) {
        Address value = 0;
        std::memcpy(&value, thread.stack.data() + at, sizeof value);
        values.push_back(value);
    }
    return values;
}

/// A live object of that layout, if it may be one.
template <class Layout>
std::optional<Layout> object(const Process& process, Address at, std::size_t alignment = sizeof(Address)) {
    if (at % alignment != 0 || !process.writable(at, sizeof(Layout))) return std::nullopt;
    return process.get<Layout>(at);
}

/// glibc: a waiter sleeps on `current_round`.
void add_pthread(const Process& process, Thread& thread) {
    struct Layout {
        std::uint32_t in, current_round, count;
        std::int32_t shared;
        std::uint32_t out;
    };
    if (!thread.waits_for_futex()) return;
    if (!has_frame(thread, "pthread_barrier_wait") && !has_frame(thread, "__pthread_barrier_wait")) return;
    const Address at = thread.arguments[0] - offsetof(Layout, current_round);
    const auto barrier = process.get<Layout>(at);
    if (!barrier || barrier->count == 0 || barrier->count > most_members) return;
    const std::uint32_t arrived = barrier->in - barrier->current_round;
    if (arrived == 0 || arrived > barrier->count) return;
    thread.barriers.push_back({"pthread_barrier_t", at, arrived, barrier->count, barrier->current_round});
}

/// libgomp: a waiter sleeps or spins on `generation`. The end of a region has a count of its own.
void add_libgomp(const Process& process, Thread& thread) {
    struct Layout {
        std::uint32_t total, generation;
        std::byte padding[line_bytes - 2 * sizeof(std::uint32_t)];
        std::uint32_t awaited, awaited_final;
    };
    constexpr std::uint32_t flags = 7;  // of the generation
    const auto add = [&](Address generation_at) {
        const Address at = generation_at - offsetof(Layout, generation);
        const auto barrier = object<Layout>(process, at, line_bytes);
        if (!barrier || barrier->total == 0 || barrier->total > most_members) return;
        if (barrier->awaited > barrier->total || barrier->awaited_final > barrier->total) return;
        const std::uint32_t at_end = barrier->awaited_final > 0 ? barrier->total - barrier->awaited_final : 0;
        const std::uint32_t arrived = std::max(barrier->total - barrier->awaited, at_end);
        if (arrived == 0) return;
        thread.barriers.push_back(
            {"OpenMP barrier (libgomp)", at, arrived, barrier->total, barrier->generation & ~flags});
    };
    if (thread.waits_for_futex() && begins_in(thread, "libgomp", 3)) {
        add(thread.arguments[0]);
    } else if (thread.held() && thread.call == Thread::runs && begins_in(thread, "libgomp", 1)) {
        for (const Address value : thread.saved)
            for (const Address generation : {value, value + offsetof(Layout, generation)})
                if (thread.barriers.empty()) add(generation);
    }
}

/// The number that has arrived by the tickets of the tree that both C++ libraries have: a 64-byte node for two members,
/// a byte for each level; negative where they cannot be those of that phase.
std::int64_t arrived_in(const Process& process, Address state, std::int64_t expected, std::uint8_t phase) {
    const std::int64_t all = (expected + 1) / 2;
    std::vector<std::byte> nodes(static_cast<std::size_t>(all) * line_bytes);
    if (phase % 2 != 0 || state == 0 || state % line_bytes != 0) return -1;
    if (!process.writable(state, nodes.size()) || !process.read(state, nodes)) return -1;
    std::int64_t count = 0, members = expected;
    for (std::size_t level = 0; level < line_bytes; ++level, members = (members + 1) / 2) {
        const std::int64_t used = members > 1 || level == 0 ? (members + 1) / 2 : 0;
        for (std::int64_t node = 0; node < all; ++node) {
            const auto ticket = static_cast<std::uint8_t>(nodes[static_cast<std::size_t>(node) * line_bytes + level]);
            if (node >= used && ticket != 0) return -1;
            if (node >= used) continue;
            const std::uint8_t came = ticket - phase;
            const bool alone = node == used - 1 && members % 2 == 1;
            if (came > 2 || (alone && level == 0 && came == 1)) return -1;
            if (level == 0) count += alone ? came / 2 : came;
        }
    }
    return count;
}

/// libstdc++: the futex is one of a shared pool, so that the object is looked for where the thread has its address.
bool add_libstdcxx(const Process& process, Thread& thread, Address at) {
    struct Layout {
        std::int64_t expected;
        Address state;
        std::int64_t adjustment;
        std::byte rest[16];
    };
    const auto barrier = object<Layout>(process, at);
    if (!barrier || barrier->expected < 1 || barrier->expected > most_members) return false;
    if (barrier->adjustment > 0 || barrier->adjustment < -barrier->expected) return false;
    for (const std::size_t phase_at : {1U, 8U}) {  // behind an empty completion, or behind one of eight bytes
        const auto phase = static_cast<std::uint8_t>(barrier->rest[phase_at]);
        const std::int64_t arrived = arrived_in(process, barrier->state, barrier->expected, phase);
        if (arrived < 1) continue;
        thread.barriers.push_back({"std::barrier (libstdc++)", at, arrived, barrier->expected, phase});
        return true;
    }
    return false;
}

/// libc++ 12 and later: a waiter polls, and pauses longer the longer it has waited. Its algorithm points back.
bool add_libcxx(const Process& process, Thread& thread, Address at) {
    struct Layout {
        std::int64_t expected;
        Address algorithm, deleter;
        std::int64_t adjustment;
        std::byte completion;
        std::uint8_t phase;
    };
    struct Algorithm {
        Address expected, state;
    };
    const auto barrier = object<Layout>(process, at);
    if (!barrier || barrier->expected < 1 || barrier->expected > most_members) return false;
    if (barrier->algorithm % sizeof(Address) != 0) return false;
    const auto algorithm = process.get<Algorithm>(barrier->algorithm);
    if (!algorithm || algorithm->expected != at || process.writable(barrier->deleter, 1)) return false;
    const std::int64_t arrived = arrived_in(process, algorithm->state, barrier->expected, barrier->phase);
    if (arrived < 1) return false;
    thread.barriers.push_back({std::string(libcxx), at, arrived, barrier->expected, barrier->phase});
    return true;
}

/// Whether it is in the longest pause of libc++'s waits, which it comes to after 128 ms.
bool pauses_as_libcxx(const Process& process, const Thread& thread) {
    if (thread.call != SYS_clock_nanosleep || !has_frame(thread, "std::__1::")) return false;
    if (thread.held()) return true;  // it was seen in that pause; the stop has written what is left of it
    const auto pause = process.get<timespec>(thread.arguments[2]);
    return pause && pause->tv_sec == 0 && pause->tv_nsec == 8'000'000;
}

/// boost::barrier: a waiter sleeps in the condition variable, which lies behind two mutexes.
void add_boost(const Process& process, Thread& thread) {
    struct Layout {
        std::byte mutexes[80], condition[48];
        std::uint32_t lacking, generation;
        Address completion;
    };
    struct Completion {
        Address functions;
        std::uint32_t members;
    };
    if (!thread.waits_for_futex() || !has_frame(thread, "boost::barrier::wait")) return;
    for (const Address signals : {40U, 44U}) {  // the two groups of a pthread_cond_t
        const Address at = thread.arguments[0] - signals - offsetof(Layout, condition);
        const auto barrier = object<Layout>(process, at);
        const auto completion = barrier ? process.get<Completion>(barrier->completion) : std::nullopt;
        if (!completion || completion->members > most_members || barrier->lacking >= completion->members) continue;
        if (barrier->lacking == 0) continue;
        thread.barriers.push_back(
            {"boost::barrier", at, completion->members - barrier->lacking, completion->members, barrier->generation});
        return;
    }
}

bool in_std_barrier(const Thread& thread) {
    return thread.waits_for_futex() &&
           (has_frame(thread, "std::barrier::") || has_frame(thread, "std::__tree_barrier::") ||
            has_frame(thread, "std::__tree_barrier_base::") ||
            has_frame_for(thread, "std::__atomic_", "__barrier_phase_t") ||
            has_frame_for(thread, "std::__detail::__wait", "__barrier_phase_t"));
}

}  // namespace

bool needs_registers(const Process& process, const Thread& thread) {
    if (thread.held()) return false;
    if (thread.waits_for_futex() && !thread.complete) return true;
    return thread.barriers.empty() && (in_std_barrier(thread) || pauses_as_libcxx(process, thread));
}

bool lacks_waiters_of_libcxx(const std::vector<Thread>& threads) {
    std::map<Address, std::int64_t> lacking;
    for (const Thread& thread : threads)
        for (const Barrier& barrier : thread.barriers)
            if (barrier.kind == libcxx) --lacking.try_emplace(barrier.at, barrier.arrived).first->second;
    return std::ranges::any_of(lacking, [](const auto& one) { return one.second > 0; });
}

void find_barriers(const Process& process, Thread& thread) {
    thread.barriers.clear();
    if (begins_in(thread, "libtollbar_pthread", 4)) add_gate(process, thread);
    if (begins_in(thread, "libtollbar_openmp", 4)) add_region(process, thread);
    if (thread.barriers.empty()) add_own(process, thread);
    add_pthread(process, thread);
    add_libgomp(process, thread);
    add_boost(process, thread);
    const bool pauses = pauses_as_libcxx(process, thread);
    if (!thread.barriers.empty() || (!in_std_barrier(thread) && !pauses)) return;
    constexpr std::size_t searched = 2048;
    std::set<Address> tried;
    for (const Address value : candidates(thread, searched))
        for (const Address inside : {0U, 25U, 32U, 33U, 40U}) {  // of a pointer to the phase
            const Address at = value - inside;
            if (tried.insert(at).second && (pauses ? add_libcxx : add_libstdcxx)(process, thread, at)) return;
        }
}

}  // namespace tollbar::look
