// SPDX-License-Identifier: Apache-2.0
// Ranks of a job meet in a file named after what has launched them on this host, without a message.
#include "watch.hpp"

#include "base/environment.h"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/fnv.hpp"
#include "base/process.hpp"
#include "base/say.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace tollbar::detail::watch {

namespace {

static_assert(sizeof(tollbar_seat) == 64 && sizeof(tollbar_comm) % 64 == 0 && sizeof(tollbar_row) % 64 == 0);

constexpr std::string_view folder = "/dev/shm/";
constexpr std::string_view before_user = "tollbar.";
constexpr std::string_view before_job = ".calls.";
constexpr std::size_t digits_of_a_job = 16;

/// The beginning of the names of this user's files.
std::string begin_of_names() { return std::string(before_user).append(std::to_string(getuid())).append(before_job); }

std::string path() {
    std::array<char, 256> job{};
    tollbar_name_of_job(job.data(), job.size());
    const pid_t process = environment::launcher_of(getpid());
    const std::uint64_t of[] = {static_cast<std::uint64_t>(process), start_of(process)};
    std::uint64_t hash = fnv1a(std::as_bytes(std::span(of)), fnv1a(std::as_bytes(std::span(job))));
    // One batch script may start several jobs at once, and what it has in its environment looks like a rank's: then the
    // launcher found is the same for all of them. Each `tollbar run` has a secret of its own.
    const std::string secret = environment::secret_of_run();
    hash = fnv1a(std::as_bytes(std::span(secret)), hash);
    std::array<char, digits_of_a_job + 1> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return std::string(folder) + begin_of_names() + digits.data();
}

/// Takes a lock that the kernel lets go however the process dies: a file without one is a left-over. False where the
/// file was just removed as such. No file is removed where none can be locked.
bool is_held(const File& file) {
    struct stat found {};
    int locked = 0;
    do {  // waits for one who removes it at most
        locked = flock(file.number(), LOCK_SH);
    } while (locked != 0 && errno == EINTR);
    return locked != 0 || (fstat(file.number(), &found) == 0 && found.st_nlink != 0);
}

File open_held(const std::string& path) {
    for (;;) {
        File file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        struct stat found {};
        if (!file || fstat(file.number(), &found) != 0) throw_errno(path);
        if (found.st_uid != geteuid()) throw_errno(path + " is another user's", EPERM);
        if (is_held(file)) return file;
    }
}

File open_own(const std::string& path) {
    File file = open_held(path);
    rlimit limit{};  // past which the kernel would end the process
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && sizeof(tollbar_seats_file) > limit.rlim_cur) throw_errno(path, EFBIG);
    if (ftruncate(file.number(), sizeof(tollbar_seats_file)) != 0) throw_errno(path);
    return file;
}

/// This process's part in it. The file stays open, for others to find it by, and mapped, for threads may be in calls of
/// the MPI while the process ends: nothing here is ever destroyed.
struct Kept {
    std::string path;
    File file;
    Mapping mapping;
    bool says = tollbar_first_of_job() != 0;  ///< why it is not watched: for all ranks
};

Kept& kept() {
    static auto* const only = new Kept;
    return *only;
}

OwnRow place_in(const std::string& path) {
    File file = open_own(path);
    if (const int error = reserve(file.number(), 0, offsetof(tollbar_seats_file, rows))) throw_errno(path, error);
    Mapping mapping(sizeof(tollbar_seats_file), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), path);
    auto* const seats = reinterpret_cast<tollbar_seats_file*>(mapping.memory());
    __atomic_store_n(&seats->version, std::uint64_t{tollbar_seats_version}, __ATOMIC_RELAXED);
    // Reserved before it is taken: others read a row that is taken, and a part of a full file system that is not there
    // would be their SIGBUS. A rank that is overtaken has reserved what the other one uses.
    std::uint64_t index = __atomic_load_n(&seats->taken, __ATOMIC_RELAXED);
    do {
        if (index >= tollbar_rows) throw_errno(path + " has no row left", ENOSPC);
        const std::size_t from = offsetof(tollbar_seats_file, rows) + index * sizeof(tollbar_row);
        if (const int error = reserve(file.number(), from, sizeof(tollbar_row))) {
            kept().says = __atomic_exchange_n(&seats->refused, 1, __ATOMIC_RELAXED) == 0;
            throw_errno(path, error);
        }
    } while (!__atomic_compare_exchange_n(&seats->taken, &index, index + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    tollbar_row& row = seats->rows[index];
    row.process = getpid();
    row.start = start_of(getpid());
    kept().file = std::move(file);
    kept().mapping = std::move(mapping);
    return {.file = seats, .row = &row};
}

/// The first rank that asks answers for all of the file.
enum Account : std::uint64_t { not_asked, given, refused };

std::uint64_t answer(const OwnRow& place, std::uint64_t account) noexcept {
    std::uint64_t before = not_asked;
    // Relaxed: nothing else is handed over.
    const bool first = __atomic_compare_exchange_n(&place.file->account, &before, account, false, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED);
    return first ? account : before;
}

/// Whether its ranks hold a lock on it, as those of this version do.
bool is_of_this_version(const File& file) {
    std::uint64_t version = 0;
    static_assert(offsetof(tollbar_seats_file, version) == 0);
    return pread(file.number(), &version, sizeof version, 0) == sizeof version && version == tollbar_seats_version;
}

/// Removes a file of a job that was killed in MPI_Init.
void remove_left_over(const std::string& path) {
    const File file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat opened {};
    struct stat named {};
    // Nobody else removes it, or gives its name to another file, while this process has the lock.
    if (file && fstat(file.number(), &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
        is_of_this_version(file) && flock(file.number(), LOCK_EX | LOCK_NB) == 0 && stat(path.c_str(), &named) == 0 &&
        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
        unlink(path.c_str());
}

}  // namespace

bool is_seats_file(std::string_view path) noexcept {
    if (!path.starts_with(folder) || !path.substr(folder.size()).starts_with(before_user)) return false;
    path.remove_prefix(folder.size() + before_user.size());
    const std::size_t user = path.find_first_not_of("0123456789");
    return user != 0 && user != path.npos && path.substr(user).starts_with(before_job);
}

OwnRow take_place() noexcept {
    try {
        if (kept().says) remove_left_overs();
        kept().path = path();
        return place_in(kept().path);
    } catch (const std::exception& error) {
        if (kept().says) tollbar_say("%s; calls of ranks of this host are not watched", error.what());
        return {};
    }
}

bool all_are_here(const OwnRow& place, int ranks) noexcept {
    return __atomic_load_n(&place.file->taken, __ATOMIC_RELAXED) == static_cast<std::uint64_t>(ranks);
}

void refuse_account(const OwnRow& place) noexcept { answer(place, refused); }

bool gives_account(const OwnRow& place, int ranks) noexcept {
    return answer(place, all_are_here(place, ranks) ? given : refused) == given;
}

void remove_left_overs() noexcept {
    try {
        const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(folder.data()), closedir);
        const std::string begin = begin_of_names();
        while (const dirent* const each = files ? readdir(files.get()) : nullptr) {
            const std::string_view name = each->d_name;
            if (name.starts_with(begin) && name.size() == begin.size() + digits_of_a_job)
                remove_left_over(std::string(folder) + std::string(name));
        }
    } catch (const std::bad_alloc&) {  // they stay
    }
}

void take_name_away() noexcept { unlink(kept().path.c_str()); }

}  // namespace tollbar::detail::watch
