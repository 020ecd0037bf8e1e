// SPDX-License-Identifier: Apache-2.0
// The files of /proc and the memory of a process: all that can be read without stopping anything.
#pragma once

#include "thread.hpp"

#include "base/files.hpp"
#include "base/process.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tollbar::look {

class Process {
public:
    explicit Process(pid_t number);

    pid_t number() const { return number_; }

    /// Its threads as they are now. `call` is unreadable where the caller may not look.
    std::vector<Thread> threads() const;

    /// Copies at most that many bytes of the stack from the thread's stack pointer on.
    void copy_stack(Thread& thread, std::size_t most) const;

    /// Whether all bytes could be read. The file in /proc is read where a filter of system calls forbids to read
    /// another process's memory.
    bool read(Address from, std::span<std::byte> to) const;

    /// Reads a word, for nothing: a read right behind it takes 1 us, any other 13.
    void warm_up() const;

    template <class T>
    std::optional<T> get(Address from) const {
        T value{};
        if (!read(from, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
        return value;
    }

    bool writable(Address at, std::size_t bytes) const;

    /// The path of the file behind that address, as the kernel has it; may be empty.
    std::string file(Address at) const;

    /// Whether the file behind that address has that inode.
    bool is_file(Address at, std::uint64_t inode) const;

    /// "BEGIN-END" of the region of that address, as /proc/PID/map_files has it.
    std::string bounds(Address at) const;

    /// "DEVICE:INODE:OFFSET" of the file behind that address, the same in every process that maps it; empty: none.
    std::string place_in_file(Address at) const;

    /// The same for every process that sees the memory at that address: file and offset of shared memory, else process
    /// and address.
    std::string key(Address at) const;

private:
    pid_t number_;
    std::vector<detail::Region> regions_;
    detail::File memory_;
};

/// Fills what /proc/PID/task/TID/syscall says, which is that text.
void read_call(Thread& thread, const std::string& text);

/// Fills asleep_ms of threads that sleep: clocks of CPUs differ, so the caller visits each CPU that one slept on.
void measure_sleep(std::span<Thread> threads);

}  // namespace tollbar::look
