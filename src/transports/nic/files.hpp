// SPDX-License-Identifier: Apache-2.0
// Descriptors and mapped pages that close themselves.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace tollbar::nic {

[[noreturn]] inline void fail(const std::string& what, int error = errno) {
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
        if (number_ >= 0) close(number_);
    }

    int number() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_ = -1;
};

/// A file's bytes as a T. A card's map may be mapped in whole pages only.
template <class T>
class Mapped {
public:
    Mapped(const File& file, int protection) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        bytes_ = (sizeof(T) + page - 1) / page * page;
        void* memory = mmap(nullptr, bytes_, protection, MAP_SHARED, file.number(), 0);
        if (memory == MAP_FAILED) fail("a card's memory cannot be mapped");
        value_ = static_cast<T*>(memory);
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    ~Mapped() { munmap(const_cast<std::remove_const_t<T>*>(value_), bytes_); }

    T* operator->() const noexcept { return value_; }
    T& operator*() const noexcept { return *value_; }

private:
    std::size_t bytes_ = 0;
    T* value_ = nullptr;
};

}  // namespace tollbar::nic
