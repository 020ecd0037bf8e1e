// SPDX-License-Identifier: Apache-2.0
// The facts that one look collects about a thread, before anything is concluded from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tollbar::look {

using Address = std::uint64_t;

/// The numbers that DWARF gives registers; the last is the program counter's. A function that is called keeps some:
/// rbx, rbp and r12 to r15 on x86-64, x19 to x29 on arm64.
#ifdef __x86_64__
enum Register : std::uint8_t { frame_register = 6, stack_register = 7, registers = 17 };
inline constexpr std::array<unsigned, 6> callee_saved{3, 6, 12, 13, 14, 15};
#else
enum Register : std::uint8_t { frame_register = 29, stack_register = 31, registers = 33 };
inline constexpr std::array<unsigned, 11> callee_saved{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif

struct Frame {
    Address at = 0;
    std::string symbol;  ///< demangled; empty: unknown
    std::string module;  ///< the file's name without folders
    std::string source;  ///< "file.c:12"; empty without debug information
    Address stack = 0;   ///< its stack pointer
    /// A hash of the caller-visible state: callee-saved registers and the stack from here on. It stays the same as long
    /// as the call that this frame has made has not returned.
    std::uint64_t mark = 0;
    std::array<Address, callee_saved.size()> kept{};  ///< the values of the callee-saved registers
};

/// A barrier found in memory, with the counts of the round under way.
struct Barrier {
    std::string kind;
    Address at = 0;
    std::int64_t arrived = 0;
    std::int64_t expected = 0;
    std::uint64_t round = 0;
};

/// A communicator of an MPI. Its number is the same on all its ranks with Open MPI, and the handle with MPICH.
struct Communicator {
    std::string name;
    std::uint32_t number = 0;
    std::int32_t rank = -1;  ///< this process's; negative: not known
};

struct Thread {
    /// Values of `call` besides the numbers of system calls.
    static constexpr long runs = -2, in_user_code = -1, unreadable = -3;

    pid_t process = 0;
    pid_t number = 0;
    std::string name;
    char state = '?';
    long call = unreadable;
    std::array<Address, 6> arguments{};
    Address stack_pointer = 0;
    Address program_counter = 0;
    std::uint64_t switches = 0;  ///< of context; unchanged between two looks: the thread has not run
    int cpu = -1;
    double last_ran_ms = -1;  ///< by the clock of that CPU
    double asleep_ms = -1;

    double held_us = -1;  ///< how long this thread was stopped; negative: never
    std::array<Address, registers> saved{};
    std::vector<std::byte> stack;  ///< a copy from the stack pointer on
    std::vector<Frame> frames;     ///< the innermost first
    bool complete = false;         ///< the frames reach the thread's start
    std::vector<Barrier> barriers;
    std::vector<Communicator> communicators;

    bool held() const { return held_us >= 0; }
    bool waits_for_futex() const;
};

}  // namespace tollbar::look
