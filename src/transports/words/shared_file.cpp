// SPDX-License-Identifier: Apache-2.0
// Opens, fills and removes shared files; every step may race with other processes that do the same.
#include "shared_file.hpp"

#include "base/error.hpp"
#include "base/kept_errno.hpp"
#include "plan/wording.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tollbar::detail {

namespace {

constexpr std::string_view before_user = "tollbar.";

std::string path_of(std::string_view name) {
    constexpr std::size_t longest = 200;
    constexpr std::string_view accepted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (name.empty() || name.size() > longest || name.find_first_not_of(accepted) != name.npos)
        throw std::invalid_argument(
            worded({"group name '", name, "' is not 1 to 200 letters, digits, '.', '_' or '-'"}));
    return worded({shared_folder, before_user, geteuid(), ".", name});
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
        throw OtherSegment(worded({path, " belongs to another user (uid ", file.st_uid, "); take another name"}));
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

}  // namespace

std::string name_of_shared_file(std::string_view path) {
    const std::string_view file = path.substr(path.rfind('/') + 1);
    const auto dot = file.starts_with(before_user) ? file.find('.', before_user.size()) : file.npos;
    if (dot == file.npos) return "";
    const std::string_view name = file.substr(dot + 1);
    return std::string(name.substr(0, name.find(' ')));  // the kernel adds " (deleted)"
}

/// The files that this process holds. Around fork(2) it opens each of them once more, locks that, and leaves it to the
/// child: so there is no moment at which the parent, letting go, takes itself for the last.
class Forking {
public:
    static void add(SharedFile& file) {
        if (registered != 0) throw_errno("cannot watch for fork(2)", registered);
        const std::lock_guard lock(mutex());
        files().push_back(&file);
    }

    static void remove(const SharedFile& file) {
        const std::lock_guard lock(mutex());
        std::erase(files(), &file);
    }

private:
    // Never destroyed, because a program may fork while it ends; and made when this is loaded, because a child has no
    // thread that would finish making them.
    static std::mutex& mutex() { return *one; }
    static std::vector<SharedFile*>& files() { return *all; }

    static std::mutex* const one;
    static std::vector<SharedFile*>* const all;
    static const int registered;

    /// Without a descriptor to be had the child shares its parent's lock.
    static void before() {
        const c_door::KeptErrno kept;
        mutex().lock();
        for (SharedFile* file : files()) {
            if (file->holder_ != getpid()) continue;
            std::array<char, 32> path{};
            std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", file->file_.number());
            file->of_child_ = File(::open(path.data(), O_RDWR | O_CLOEXEC));
            if (file->of_child_) lock(file->of_child_.number(), LOCK_SH | LOCK_NB);
        }
    }

    static void in_parent() {
        const c_door::KeptErrno kept;
        for (SharedFile* file : files()) File().swap(file->of_child_);
        mutex().unlock();
    }

    static void in_child() {
        const c_door::KeptErrno kept;
        for (SharedFile* file : files()) {
            if (!file->of_child_) continue;
            file->file_.swap(file->of_child_);
            File().swap(file->of_child_);
            file->holder_ = getpid();
        }
        mutex().unlock();
    }
};

std::mutex* const Forking::one = new std::mutex;
std::vector<SharedFile*>* const Forking::all = new std::vector<SharedFile*>;
const int Forking::registered = pthread_atfork(before, in_parent, in_child);

SharedFile::~SharedFile() {
    if (holder_ == 0) return;
    Forking::remove(*this);
    // The process that gets the exclusive lock was the last; later ones see the path lead elsewhere and try again.
    if (holder_ == getpid() && lock(file_.number(), LOCK_EX | LOCK_NB) && still_linked(file_.number(), path_))
        unlink(path_.c_str());
}

void SharedFile::open(std::string_view name, std::string_view signature, std::size_t bytes,
                      const std::function<void(std::byte*)>& fill) {
    path_ = path_of(name);
    while (!open_used(signature) && !make(bytes, fill)) continue;
    holder_ = getpid();
    Forking::add(*this);
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
    // The file has no name until it is complete and locked: a process that dies in between leaves nothing behind.
    file_ = File(::open(shared_folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file_) throw_errno("cannot make " + path_);
    if (const int error = reserve(file_.number(), 0, bytes); error != 0)
        throw_errno(worded({"cannot get ", bytes, " bytes for ", path_}), error);
    fill(map().memory());
    if (!lock(file_.number(), LOCK_SH)) throw_errno("cannot lock " + path_);
    if (linkat(AT_FDCWD, proc_path(file_.number()).c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (errno != EEXIST) throw_errno("cannot name " + path_);
    return false;
}

Mapping SharedFile::map() const {
    struct stat file {};
    if (fstat(file_.number(), &file) != 0) throw_errno("cannot inspect " + path_);
    return {static_cast<std::size_t>(file.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(),
            "cannot map " + path_};
}

}  // namespace tollbar::detail
