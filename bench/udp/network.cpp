// SPDX-License-Identifier: Apache-2.0
// Entering a network namespace for as long as it takes to make a socket in it.
#include "network.hpp"

#include "options.hpp"

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace tollbar::bench {

namespace {

class File {
public:
    explicit File(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
    }
    ~File() { close(file_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int get() const noexcept { return file_; }

private:
    int file_;
};

/// The calling thread is on that host until this goes.
class Visiting {
public:
    explicit Visiting(const std::string& host) : home_("/proc/thread-self/ns/net") {
        if (setns(File("/run/netns/" + host).get(), CLONE_NEWNET) != 0)
            throw std::system_error(errno, std::generic_category(), "host " + host);
    }
    ~Visiting() { setns(home_.get(), CLONE_NEWNET); }
    Visiting(const Visiting&) = delete;
    Visiting& operator=(const Visiting&) = delete;

private:
    File home_;
};

Host read_host(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos || equals == 0 || equals + 1 == word.size())
        throw WrongUse("--hosts '" + std::string(word) + "': accepted is NAME=ADDRESS[,NAME=ADDRESS...]");
    return {.name = std::string(word.substr(0, equals)), .address = std::string(word.substr(equals + 1))};
}

}  // namespace

Network::Network(std::string_view hosts, Rank ranks) {
    if (hosts.empty()) {
        hosts_.assign(ranks, {.name = "", .address = "127.0.0.1"});
        return;
    }
    for (std::size_t comma = 0; comma != hosts.npos; hosts.remove_prefix(comma == hosts.npos ? 0 : comma + 1)) {
        comma = hosts.find(',');
        hosts_.push_back(read_host(hosts.substr(0, comma)));
    }
    if (hosts_.size() < ranks)
        throw WrongUse("there are " + std::to_string(hosts_.size()) + " hosts for " + std::to_string(ranks) + " ranks");
}

void Network::on_host(Rank rank, const std::function<void()>& action) const {
    const Host& host = hosts_[rank];
    if (host.name.empty()) return action();
    const Visiting visiting(host.name);
    action();
}

udp_endpoint Network::endpoint(Rank rank) const {
    std::optional<udp_endpoint> made;
    on_host(rank, [&] { made.emplace(hosts_[rank].address + ":0"); });
    return std::move(*made);
}

}  // namespace tollbar::bench
