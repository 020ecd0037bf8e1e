// SPDX-License-Identifier: Apache-2.0
// Opens, fills and removes shared files; every step may race with other processes that do the same.
#include "shared_file.hpp"

#include "runtime/error.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tollbar {

namespace {

constexpr const char* folder = "/dev/shm/";

std::string path_of(std::string_view name) {
    constexpr std::size_t longest = 200;
    constexpr std::string_view accepted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (name.empty() || name.size() > longest || name.find_first_not_of(accepted) != name.npos)
        throw std::invalid_argument("group name '" + std::string(name) +
                                    "' is not 1 to 200 letters, digits, '.', '_' or '-'");
    return folder + ("tollbar." + std::to_string(geteuid()) + "." + std::string(name));
}

/// The name under which the kernel shows an open file.
std::string proc_path(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// Whether the path still leads to the open file: it does not when another process removed it meanwhile.
bool still_linked(int descriptor, const std::string& path) {
    struct stat open_file {};
    struct stat named_file {};
    return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named_file) == 0 &&
           open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

/// Throws unless the open file is one that this user's tollbar made.
void refuse_foreign(int descriptor, std::string_view signature, const std::string& path) {
    struct stat file {};
    if (fstat(descriptor, &file) != 0) throw_errno("cannot inspect " + path);
    if (file.st_uid != geteuid())
        throw OtherSegment(path + " belongs to another user (uid " + std::to_string(file.st_uid) +
                           "); take another name");
    std::string begin(signature.size(), '\0');
    if (pread(descriptor, begin.data(), begin.size(), 0) != static_cast<ssize_t>(begin.size()) || begin != signature)
        throw OtherSegment(path + " is not a tollbar group; remove it or take another name");
}

/// flock(2), again when a signal comes in between.
bool lock(int descriptor, int operation) noexcept {
    int result = 0;
    do {
        result = flock(descriptor, operation);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/// posix_fallocate(3) with signals held back: a file of some size would take longer than the pauses of a signal
/// that comes often, and what was got is given back at each of them.
int reserve(int descriptor, std::size_t bytes) noexcept {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

}  // namespace

SharedFile::~SharedFile() {
    // Whoever gets the exclusive lock was the last; those who come now see the path lead elsewhere and try again.
    if (holder_ == getpid() && lock(file_.number(), LOCK_EX | LOCK_NB) && still_linked(file_.number(), path_))
        unlink(path_.c_str());
}

void SharedFile::open(std::string_view name, std::string_view signature, std::size_t bytes,
                      const std::function<void(std::byte*)>& fill) {
    path_ = path_of(name);
    while (!open_used(signature) && !make(bytes, fill)) continue;
    holder_ = getpid();
}

bool SharedFile::open_used(std::string_view signature) {
    file_ = File(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file_) {
        if (errno == ENOENT) return false;
        throw_errno("cannot open " + path_);
    }
    refuse_foreign(file_.number(), signature, path_);
    const bool left_over = lock(file_.number(), LOCK_EX | LOCK_NB);
    if (!left_over && !lock(file_.number(), LOCK_SH)) throw_errno("cannot lock " + path_);
    const bool linked = still_linked(file_.number(), path_);
    if (linked && !left_over) return true;
    if (linked) unlink(path_.c_str());
    return false;
}

bool SharedFile::make(std::size_t bytes, const std::function<void(std::byte*)>& fill) {
    // Without a name until it is complete and locked: whoever dies in between leaves nothing behind.
    file_ = File(::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file_) throw_errno("cannot make " + path_);
    // Reserves the pages: a full /dev/shm is an error now and not a SIGBUS later.
    if (const int error = reserve(file_.number(), bytes); error != 0)
        throw_errno("cannot get " + std::to_string(bytes) + " bytes for " + path_, error);
    std::size_t mapped = 0;
    std::byte* memory = map(mapped);
    fill(memory);
    munmap(memory, mapped);
    if (!lock(file_.number(), LOCK_SH)) throw_errno("cannot lock " + path_);
    if (linkat(AT_FDCWD, proc_path(file_.number()).c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (errno != EEXIST) throw_errno("cannot name " + path_);
    return false;
}

void SharedFile::hold_after_fork() {
    pid_t holder = holder_;
    if (!file_ || holder == getpid() || !holder_.compare_exchange_strong(holder, getpid())) return;
    File own(::open(proc_path(file_.number()).c_str(), O_RDWR | O_CLOEXEC));
    if (!own) {
        holder_ = holder;
        throw_errno("cannot open " + path_ + " again");
    }
    // Refused only while the parent, who was the last, removes the file: then there is nothing left to hold.
    lock(own.number(), LOCK_SH | LOCK_NB);
    file_ = std::move(own);
}

std::byte* SharedFile::map(std::size_t& bytes) const {
    struct stat file {};
    if (fstat(file_.number(), &file) != 0) throw_errno("cannot inspect " + path_);
    bytes = static_cast<std::size_t>(file.st_size);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
    if (memory == MAP_FAILED) throw_errno("cannot map " + path_);
    return static_cast<std::byte*>(memory);
}

}  // namespace tollbar
