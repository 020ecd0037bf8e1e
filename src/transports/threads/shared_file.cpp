// SPDX-License-Identifier: Apache-2.0
// Opens, fills and removes shared files; every step may race with other processes that do the same.
#include "shared_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tollbar {

namespace {

constexpr std::string_view folder = "/dev/shm/";

std::system_error failed(const std::string& doing) {
    return {errno, std::generic_category(), "cannot " + doing};
}

std::string path_of(std::string_view name) {
    constexpr std::size_t longest = 200;
    const auto accepted = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
    if (name.empty() || name.size() > longest || !std::ranges::all_of(name, accepted))
        throw std::invalid_argument("group name '" + std::string(name) +
                                    "' is not 1 to 200 letters, digits, '.', '_' or '-'");
    return std::string(folder) + "tollbar." + std::to_string(getuid()) + "." + std::string(name);
}

/// Whether the path still leads to the open file: it does not when another process removed it meanwhile.
bool still_linked(int descriptor, const std::string& path) {
    struct stat open_file {};
    struct stat named_file {};
    return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named_file) == 0 &&
           open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

bool begins_with(int descriptor, std::string_view signature) {
    std::array<char, 64> begin{};
    const ssize_t read = pread(descriptor, begin.data(), std::min(begin.size(), signature.size()), 0);
    const bool never_filled = std::ranges::all_of(begin, [](char c) { return c == '\0'; });
    return never_filled || (read == static_cast<ssize_t>(signature.size()) &&
                         std::string_view(begin.data(), signature.size()) == signature);
}

/// flock(2), again when a signal comes in between.
bool lock(int descriptor, int operation) noexcept {
    int result = 0;
    do {
        result = flock(descriptor, operation);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

}  // namespace

SharedFile::~SharedFile() {
    if (descriptor_ < 0) return;
    // Whoever gets the exclusive lock was the last; those who come now see the path lead elsewhere and try again.
    if (opener_ == getpid() && lock(descriptor_, LOCK_EX | LOCK_NB) && still_linked(descriptor_, path_)) unlink(path_.c_str());
    close();
}

void SharedFile::close() noexcept {
    ::close(descriptor_);
    descriptor_ = -1;
}

void SharedFile::open(std::string_view name, std::string_view signature, std::size_t bytes,
                      const std::function<void(std::byte*)>& fill) {
    path_ = path_of(name);
    opener_ = getpid();
    try {
        while (!open_once(signature, bytes, fill)) close();
    } catch (...) {
        if (descriptor_ >= 0) close();
        throw;
    }
}

bool SharedFile::open_once(std::string_view signature, std::size_t bytes, const std::function<void(std::byte*)>& fill) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0) throw failed("open " + path_);
    if (lock(descriptor_, LOCK_EX | LOCK_NB)) {
        if (!still_linked(descriptor_, path_)) return false;
        if (!begins_with(descriptor_, signature))
            throw std::invalid_argument(path_ + " is not a tollbar group; remove it or take another name");
        if (ftruncate(descriptor_, 0) != 0) throw failed("empty " + path_);
        // Reserves the pages: a full /dev/shm is an error now and not a SIGBUS later.
        if (const int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)); error != 0) {
            unlink(path_.c_str());
            errno = error;
            throw failed("get " + std::to_string(bytes) + " bytes for " + path_);
        }
        std::size_t mapped = 0;
        std::byte* memory = map(mapped);
        fill(memory);
        munmap(memory, mapped);
    }
    // Not atomic: somebody may remove or refill the file before the shared lock is ours. Hence the second look.
    if (!lock(descriptor_, LOCK_SH)) throw failed("lock " + path_);
    return still_linked(descriptor_, path_);
}

std::byte* SharedFile::map(std::size_t& bytes) const {
    struct stat file {};
    if (fstat(descriptor_, &file) != 0) throw failed("look at " + path_);
    bytes = static_cast<std::size_t>(file.st_size);
    void* memory = bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) throw failed("map " + path_);
    return static_cast<std::byte*>(memory);
}

}  // namespace tollbar
