// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include "threads.hpp"

#include <fcntl.h>
#include <sys/resource.h>

namespace tollbar::detail {

std::string contents_of(const std::string& path) {
    const NotCancelled not_cancelled;
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string all;
    constexpr std::size_t piece = 4096;
    for (ssize_t got = piece; got > 0;) {
        const std::size_t before = all.size();
        all.resize(before + piece);
        do got = read(file.number(), all.data() + before, piece);
        while (got < 0 && errno == EINTR);
        all.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return all;
}

std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    const std::string all = contents_of(path);
    for (std::size_t at = 0, end = 0; at < all.size(); at = end + 1) {
        end = std::min(all.find('\n', at), all.size());
        lines.push_back(all.substr(at, end - at));
    }
    return lines;
}

// A file of some size takes longer than the pauses of a signal that comes often, and what was got is given back at each
// of them.
int reserve(int descriptor, std::size_t from, std::size_t bytes) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && from + bytes > limit.rlim_cur) return EFBIG;
    const SignalsHeldBack held;
    const NotCancelled not_cancelled;
    return posix_fallocate(descriptor, static_cast<off_t>(from), static_cast<off_t>(bytes));
}

}  // namespace tollbar::detail
