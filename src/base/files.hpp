// SPDX-License-Identifier: Apache-2.0
// Descriptors and mapped pages that close themselves.
#pragma once

#include "not_cancelled.hpp"

#include <tollbar/detail/deadline.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tollbar::detail {

[[noreturn]] inline void throw_errno(const std::string& what, int error = errno) {
    throw std::system_error(error, std::generic_category(), what);
}

class File {
public:
    File() = default;
    explicit File(int number) : number_(number) {}
    File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~File() {
        if (number_ < 0) return;
        const NotCancelled not_cancelled;
        close(number_);
    }

    void swap(File& other) noexcept { std::swap(number_, other.number_); }
    int number() const noexcept { return number_; }
    /// The descriptor, which the caller closes.
    int release() noexcept { return std::exchange(number_, -1); }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_ = -1;
};

/// All that can be read of a file, which may be one of /proc that has no size; empty where there is none. Not by a
/// stream: each library that is preloaded would hold half a megabyte of locales for it.
std::string contents_of(const std::string& path);
std::vector<std::string> lines_of(const std::string& path);

/// Reserves a part of a file, so that a full file system is an error now and not a SIGBUS later; 0 or an errno value.
/// Past RLIMIT_FSIZE that is EFBIG, and no SIGXFSZ. Signals are held back meanwhile.
int reserve(int descriptor, std::size_t from, std::size_t bytes) noexcept;

/// Sleeps until there is something to read, the deadline has passed, or a signal came; true when there is. Exact to
/// the kernel's high-resolution timers, which SO_RCVTIMEO is not.
inline bool sleep_until_readable(const File& file, Deadline deadline) noexcept {
    using namespace std::chrono;
    const NotCancelled not_cancelled;
    const auto left = std::max(deadline.at - steady_clock::now(), steady_clock::duration::zero());
    const auto whole = duration_cast<seconds>(left);
    const timespec time{.tv_sec = whole.count(), .tv_nsec = duration_cast<nanoseconds>(left - whole).count()};
    pollfd readable{.fd = file.number(), .events = POLLIN, .revents = 0};
    return ppoll(&readable, 1, &time, nullptr) == 1;
}

/// Pages of memory that are mapped as long as this lives; none by default.
class Mapping {
public:
    Mapping() = default;
    /// Throws std::system_error that begins with `what`.
    Mapping(std::size_t bytes, int protection, int flags, int descriptor, const std::string& what)
        : memory_(mmap(nullptr, bytes, protection, flags, descriptor, 0)), bytes_(bytes) {
        if (memory_ == MAP_FAILED) throw_errno(what);
    }
    Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Mapping() {
        if (memory_ != nullptr) munmap(memory_, bytes_);
    }

    std::byte* memory() const noexcept { return static_cast<std::byte*>(memory_); }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A file's bytes as a T, in whole pages, for a BPF map can be mapped in no other way.
template <class T>
class Mapped {
public:
    Mapped(const File& file, int protection)
        : mapping_(in_pages(), protection, MAP_SHARED, file.number(), "mapping memory of the NIC") {}

    T* operator->() const noexcept { return reinterpret_cast<T*>(mapping_.memory()); }
    T& operator*() const noexcept { return *operator->(); }

private:
    static std::size_t in_pages() noexcept {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        return (sizeof(T) + page - 1) / page * page;
    }

    Mapping mapping_;
};

}  // namespace tollbar::detail
