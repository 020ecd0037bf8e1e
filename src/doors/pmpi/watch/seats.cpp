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
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>

namespace tollbar::detail::watch {

namespace {

static_assert(sizeof(tollbar_seat) == 64 && sizeof(tollbar_comm) % 64 == 0 && sizeof(tollbar_row) % 64 == 0);

/// The process of this host that started the ranks: the first ancestor that is not started as one of them.
pid_t launcher() {
    pid_t process = getppid();
    while (process > 1 && environment::is_of_a_rank(process)) process = stat_of(process).parent;
    return process;
}

std::string path() {
    std::array<char, 256> job{};
    tollbar_name_of_job(job.data(), job.size());
    const pid_t process = launcher();
    const std::uint64_t of[] = {static_cast<std::uint64_t>(process), start_of(process)};
    std::uint64_t hash = fnv1a(std::as_bytes(std::span(of)), fnv1a(std::as_bytes(std::span(job))));
    // One batch script may start several jobs at once, and what it has in its environment looks like a rank's: then the
    // launcher found is the same for all of them. Each `tollbar run` has a secret of its own.
    const std::string secret = environment::secret_of_run();
    hash = fnv1a(std::as_bytes(std::span(secret)), hash);
    char name[80];
    std::snprintf(name, sizeof name, "/dev/shm/tollbar.%u.calls.%016llx", static_cast<unsigned>(getuid()),
                  static_cast<unsigned long long>(hash));
    return name;
}

File open_own(const std::string& path) {
    File file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    struct stat found {};
    if (!file || fstat(file.number(), &found) != 0) throw_errno(path);
    if (found.st_uid != geteuid()) throw_errno(path + " is another user's", EPERM);
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

Place place_in(const std::string& path) {
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

std::uint64_t answer(const Place& place, std::uint64_t account) noexcept {
    std::uint64_t before = not_asked;
    // Relaxed: nothing else is handed over.
    const bool first = __atomic_compare_exchange_n(&place.file->account, &before, account, false, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED);
    return first ? account : before;
}

}  // namespace

Place take_place() noexcept {
    try {
        kept().path = path();
        return place_in(kept().path);
    } catch (const std::exception& error) {
        if (kept().says) tollbar_say("%s; calls of ranks of this host are not watched", error.what());
        return {};
    }
}

bool all_are_here(const Place& place, int ranks) noexcept {
    return __atomic_load_n(&place.file->taken, __ATOMIC_RELAXED) == static_cast<std::uint64_t>(ranks);
}

void refuse_account(const Place& place) noexcept { answer(place, refused); }

bool gives_account(const Place& place, int ranks) noexcept {
    return answer(place, all_are_here(place, ranks) ? given : refused) == given;
}

void take_name_away() noexcept { unlink(kept().path.c_str()); }

}  // namespace tollbar::detail::watch
