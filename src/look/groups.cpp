// SPDX-License-Identifier: Apache-2.0
// Reads shared files of groups; takes no lock, because the last holder of a lock removes the file.
#include "groups.hpp"

#include "base/files.hpp"
#include "base/process.hpp"
#include "transports/words/segment.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
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

Group read(const Segment& segment, const std::string& name) {
    Group group{name, segment.plan(), segment.ranks(), segment.latest(), {}, {}};
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

}  // namespace

std::vector<Group> groups() {
    const std::string prefix = "tollbar." + std::to_string(geteuid()) + ".";
    std::vector<Group> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix)) continue;
        const detail::File file(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        struct stat status {};
        if (!file || fstat(file.number(), &status) != 0 || status.st_uid != geteuid() || status.st_size == 0) continue;
        const detail::Mapping mapping(static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file.number(),
                                      "cannot map " + entry.path().string());
        if (!Segment::is_sound(mapping.memory(), mapping.bytes())) continue;
        const Segment segment(mapping.memory());
        bool alive = false;
        for (Rank rank = 0; rank < segment.ranks() && !alive; ++rank) alive = lives(segment, rank);
        if (alive) found.push_back(read(segment, name.substr(prefix.size())));
    }
    std::ranges::sort(found, {}, &Group::name);
    return found;
}

}  // namespace tollbar::look
