// SPDX-License-Identifier: Apache-2.0
// Layouts of glibc (2.25 and later), libgomp and libstdc++ (since GCC 11) on x86-64, each with its own checks.
#include "barriers.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace tollbar::look {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::int64_t most_members = 1 << 16;

bool has_frame(const Thread& thread, std::string_view part) {
    return std::ranges::any_of(thread.frames,
                               [&](const Frame& frame) { return frame.symbol.find(part) != std::string::npos; });
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

/// glibc: a waiter sleeps on `current_round`.
void add_pthread(const Process& process, Thread& thread) {
    struct Layout {
        std::uint32_t in, current_round, count;
        std::int32_t shared;
        std::uint32_t out;
    };
    if (!thread.waits_for_futex() || !has_frame(thread, "pthread_barrier_wait")) return;
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
        if (at % line_bytes != 0 || !process.writable(at, sizeof(Layout))) return;
        const auto barrier = process.get<Layout>(at);
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

/// The tickets of libstdc++'s tree barrier: a 64-byte node for two members, a byte for each level.
class Tickets {
public:
    Tickets(std::vector<std::byte> nodes, std::int64_t expected) : nodes_(std::move(nodes)), expected_(expected) {}

    /// The number that has arrived; negative where the tickets cannot be those of that phase.
    std::int64_t arrived(std::uint8_t phase) const {
        std::int64_t count = 0, members = expected_;
        for (std::size_t level = 0; level < line_bytes; ++level, members = (members + 1) / 2) {
            const std::int64_t used = members > 1 || level == 0 ? (members + 1) / 2 : 0;
            for (std::int64_t node = 0; node < (expected_ + 1) / 2; ++node) {
                const auto ticket = static_cast<std::uint8_t>(
                    nodes_[static_cast<std::size_t>(node) * line_bytes + level]);
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

private:
    std::vector<std::byte> nodes_;
    std::int64_t expected_;
};

/// libstdc++: the futex is one of a shared pool, so that the object is looked for where the thread has its address.
bool add_libstdcxx(const Process& process, Thread& thread, Address at) {
    struct Layout {
        std::int64_t expected;
        Address state;
        std::int64_t adjustment;
        std::byte rest[16];
    } barrier{};
    if (at % sizeof(Address) != 0 || !process.writable(at, sizeof barrier)) return false;
    if (!process.read(at, std::as_writable_bytes(std::span(&barrier, 1)))) return false;
    if (barrier.expected < 1 || barrier.expected > most_members || barrier.state == 0) return false;
    if (barrier.state % line_bytes != 0 || std::abs(barrier.adjustment) > barrier.expected) return false;
    std::vector<std::byte> nodes(static_cast<std::size_t>((barrier.expected + 1) / 2) * line_bytes);
    if (!process.writable(barrier.state, nodes.size()) || !process.read(barrier.state, nodes)) return false;
    const Tickets tickets(std::move(nodes), barrier.expected);
    for (const std::size_t phase_at : {1U, 8U}) {  // behind an empty completion, or behind one of eight bytes
        const auto phase = static_cast<std::uint8_t>(barrier.rest[phase_at]);
        const std::int64_t arrived = phase % 2 == 0 ? tickets.arrived(phase) : -1;
        if (arrived < 1) continue;
        thread.barriers.push_back({"std::barrier (libstdc++)", at, arrived, barrier.expected, phase});
        return true;
    }
    return false;
}

bool in_std_barrier(const Thread& thread) {
    return thread.waits_for_futex() && (has_frame(thread, "__barrier_phase_t") || has_frame(thread, "std::barrier<") ||
                                        has_frame(thread, "__tree_barrier"));
}

}  // namespace

bool needs_registers(const Thread& thread) {
    return thread.waits_for_futex() && thread.barriers.empty() && !thread.held() &&
           (!thread.complete || in_std_barrier(thread));
}

void find_barriers(const Process& process, Thread& thread) {
    thread.barriers.clear();
    add_pthread(process, thread);
    add_libgomp(process, thread);
    if (!thread.barriers.empty() || !in_std_barrier(thread)) return;
    constexpr std::size_t searched = 2048;
    std::set<Address> tried;
    for (const Address value : candidates(thread, searched))
        for (const Address inside : {0U, 25U, 32U, 40U})  // of a pointer to the phase
            if (tried.insert(value - inside).second && add_libstdcxx(process, thread, value - inside)) return;
}

}  // namespace tollbar::look
