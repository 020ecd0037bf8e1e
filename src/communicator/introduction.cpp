// SPDX-License-Identifier: Apache-2.0
// Looks at the process, its host and its options.
#include "introduction.hpp"

#include "spelling.hpp"

#include "nicd/client/local_nic.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

/// Equal for processes that can share memory by a file in /dev/shm: same kernel, host name, mount and user.
std::uint64_t node_identity(const std::string& host) {
    static const std::string kernel = [] {
        std::string boot;
        std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
        struct stat shm {};
        const bool mounted = stat("/dev/shm", &shm) == 0;
        return boot + '/' + std::to_string(mounted ? shm.st_dev : 0) + '/' + std::to_string(getuid()) + '/';
    }();
    return std::max<std::uint64_t>(std::hash<std::string>{}(kernel + host), 1);
}

/// The host is asked for a card once a process, and not at all where none is wanted.
NetworkStanding own_network(const tollbar_mpi_options& options) {
    const auto told = options.network == TOLLBAR_NETWORK_UNSAID ? environment::network() : options.network;
    if (told == TOLLBAR_NETWORK_P2P) return {.told = told, .address = 0, .error = 0};
    static const nic::Found card = nic::find_nic();
    return {.told = told, .address = card.address, .error = card.error};
}

}  // namespace

Introduction own_introduction(const tollbar_mpi_options& options, const Arenas::Held& held) {
    const std::string host = options.host == nullptr ? host_name() : options.host;
    Introduction own{};
    own.node = node_identity(host);
    own.arenas = Arenas::ids(held);
    own.standing = own_standing();
    own.network = own_network(options);
    asked_plan(options).copy(own.plan, sizeof own.plan - 1);
    host.copy(own.address.host, sizeof own.address.host - 1);
    own.address.process = getpid();
    return own;
}

const std::string& host_name() {
    static const std::string own = [] {
        std::array<char, 256> name{};
        gethostname(name.data(), name.size() - 1);
        return std::string(name.data());
    }();
    return own;
}

}  // namespace tollbar::mpi
