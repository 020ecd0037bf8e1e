// SPDX-License-Identifier: Apache-2.0
// Reads shared files of groups; takes no lock, because the last holder of a lock removes the file.
#include "groups.hpp"

#include "base/files.hpp"
#include "base/process.hpp"
#include "transports/words/segment.hpp"
#include "transports/words/shared_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::look {

namespace {

using detail::Segment;

bool lives(const Segment& segment, Rank rank) {
    const auto& record = segment.record(rank);
    const pid_t holder = record.process.load(std::memory_order_relaxed);
    return holder > 0 && detail::is_running(holder, record.process_start.load(std::memory_order_relaxed));
}

}  // namespace

SeenGroup read_group(const Segment& segment, const std::string& name) {
    SeenGroup group{name, segment.plan(), segment.ranks(), segment.latest(), {}, {}, {}};
    if (group.episode == segment.start()) return group;
    group.missing = segment.missing(group.episode);
    for (Rank rank = 0; rank < group.ranks; ++rank) {
        const auto& record = segment.record(rank);
        if (record.arrived.load(std::memory_order_relaxed) < group.episode) continue;
        group.arrived.push_back({.rank = rank,
                                 .where = absent::state::running,
                                 .process = record.process.load(std::memory_order_relaxed),
                                 .thread = record.thread.load(std::memory_order_relaxed),
                                 .behind = 0});
    }
    return group;
}

std::vector<SeenGroup> groups() {
    std::vector<SeenGroup> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(detail::shared_folder, error)) {
        const std::string name = detail::name_of_shared_file(entry.path().native());
        if (name.empty()) continue;
        // Anybody may write to this folder: the opening waits for no other end of a pipe, and follows no link.
        const detail::File file(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        struct stat status {};
        if (!file || fstat(file.number(), &status) != 0) continue;
        if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) continue;
        std::vector<LineCopy> copy(Segment::beginning / sizeof(LineCopy));
        const ssize_t begun = pread(file.number(), copy.data(), Segment::beginning, 0);
        const std::size_t size = begun > 0 ? Segment::bytes_of(std::as_bytes(std::span(copy))) : 0;
        if (size == 0 || size % sizeof(LineCopy) != 0 || size != static_cast<std::size_t>(status.st_size)) continue;
        copy.resize(size / sizeof(LineCopy));
        const std::span<std::byte> bytes = std::as_writable_bytes(std::span(copy));
        if (pread(file.number(), bytes.data(), size, 0) != static_cast<ssize_t>(size)) continue;
        if (!Segment::is_sound(bytes.data(), size)) continue;
        const Segment segment(bytes.data());
        bool alive = false;
        for (Rank rank = 0; rank < segment.ranks() && !alive; ++rank) alive = lives(segment, rank);
        if (alive) found.push_back(read_group(segment, name));
    }
    std::ranges::sort(found, {}, &SeenGroup::name);
    return found;
}

}  // namespace tollbar::look
