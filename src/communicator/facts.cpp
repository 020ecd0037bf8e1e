// SPDX-License-Identifier: Apache-2.0
// Looks at the process, its host and its options.
#include "facts.hpp"

#include "spelling.hpp"

#include "base/environment.hpp"
#include "base/fnv.hpp"
#include "base/host.hpp"
#include "membership/local_nic.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace tollbar::detail::mpi {

namespace {

/// Equal for processes that can share memory by a file in /dev/shm: same kernel, host name, mount and user.
std::uint64_t node_identity(const std::string& host) {
    static const std::uint64_t kernel = [] {
        struct stat shm {};
        const bool mounted = stat("/dev/shm", &shm) == 0;
        return fnv1a(kernel_boot() + '/' + std::to_string(mounted ? shm.st_dev : 0) + '/' + std::to_string(getuid()) +
                     '/');
    }();
    return std::max<std::uint64_t>(fnv1a(host, kernel), 1);
}

/// The host is asked for a NIC once a process, and not at all where none is wanted.
NetworkFacts own_network(tollbar_network asked) {
    if (asked == TOLLBAR_NETWORK_P2P) return {.asked = asked, .address = 0, .error = 0};
    static const auto* const nic = new nic::Found(nic::find_nic());
    return {.asked = asked, .address = nic->address, .error = nic->error};
}

}  // namespace

Facts own_facts(const tollbar_mpi_options& options, const Arenas::Held& held) {
    const std::string host = options.host;
    Facts own{};
    own.node = node_identity(host);
    own.arenas = Arenas::ids(held);
    own.standing = own_standing();
    own.network = own_network(options.network);
    asked_plan(options).copy(own.plan, sizeof own.plan - 1);
    host.copy(own.address.host, sizeof own.address.host - 1);
    own.address.process = getpid();
    return own;
}

tollbar_mpi_options completed(const tollbar_mpi_options& options) {
    tollbar_mpi_options all = options;
    if (all.name == nullptr || *all.name == '\0') all.name = "a communicator";
    if (all.mpi == nullptr) all.mpi = "any";
    if (all.host == nullptr) all.host = host_name().c_str();
    if (all.network == TOLLBAR_NETWORK_UNSAID) all.network = environment::network();
    if (all.budget_ms < 0) all.budget_ms = 20;
    if (all.timeout_s < 0) all.timeout_s = tollbar_timeout();
    return all;
}

}  // namespace tollbar::detail::mpi
