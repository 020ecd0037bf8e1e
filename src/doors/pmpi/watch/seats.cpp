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
    const std::uint64_t hash = fnv1a(std::as_bytes(std::span(of)), fnv1a(std::as_bytes(std::span(job))));
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
    if (ftruncate(file.number(), sizeof(tollbar_seats_file)) != 0) throw_errno(path);
    return file;
}

std::string shared_path;

Place place_in(const std::string& path) {
    static File file;  // stays open, for others to find it by
    File opened = open_own(path);
    if (const int error = reserve(opened.number(), 0, offsetof(tollbar_seats_file, rows))) throw_errno(path, error);
    Mapping mapping(sizeof(tollbar_seats_file), PROT_READ | PROT_WRITE, MAP_SHARED, opened.number(), path);
    auto* const seats = reinterpret_cast<tollbar_seats_file*>(mapping.memory());
    __atomic_store_n(&seats->version, std::uint64_t{tollbar_seats_version}, __ATOMIC_RELAXED);
    const std::uint64_t index = __atomic_fetch_add(&seats->taken, 1, __ATOMIC_RELAXED);
    if (index >= tollbar_rows) throw_errno(path + " has no row left", ENOSPC);
    tollbar_row& row = seats->rows[index];
    const auto from = static_cast<std::size_t>(reinterpret_cast<std::byte*>(&row) - mapping.memory());
    if (const int error = reserve(opened.number(), from, sizeof row)) throw_errno(path, error);
    row.process = getpid();
    row.start = start_of(getpid());
    file.swap(opened);
    static Mapping mapped;  // threads may be in calls of the MPI until the process ends
    mapped = std::move(mapping);
    return {.file = seats, .row = &row};
}

}  // namespace

Place take_place() noexcept {
    try {
        shared_path = path();
        return place_in(shared_path);
    } catch (const std::exception& error) {
        if (tollbar_verbosity() > 0) tollbar_say("%s; this rank's calls are not watched", error.what());
        return {};
    }
}

void take_name_away() noexcept { unlink(shared_path.c_str()); }

}  // namespace tollbar::detail::watch
