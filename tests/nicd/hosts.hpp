// SPDX-License-Identifier: Apache-2.0
// Hosts out of network namespaces with a daemon each, all inside one test program.
#pragma once

#include "membership/connection.hpp"
#include "nicd/server.hpp"

#include <tollbar/nic.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace tollbar::testing {

using namespace detail;

/// Why there can be no hosts with NICs here; empty when there can.
inline std::string no_hosts() {
    if (geteuid() != 0) return "this is not run as root";
    if (std::system("command -v ip >/dev/null && ip netns list >/dev/null 2>&1") != 0) return "no command ip";
    try {
        nic::load("nic");
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

class Hosts {
public:
    explicit Hosts(Rank count)
        : id_("n" + std::to_string(getpid() % 100000)), root_(open("/proc/self/ns/net", O_RDONLY)) {
        script("up " + std::to_string(count) + " >/dev/null");
        const std::string listed = "/tmp/tollbar-" + id_;
        script("list | awk '{ print $2 }' >" + listed);
        FILE* file = std::fopen(listed.c_str(), "r");
        char line[64];
        while (std::fgets(line, sizeof line, file) != nullptr) addresses_.emplace_back(line, std::strcspn(line, "\n"));
        std::fclose(file);
        std::filesystem::remove(listed);
    }
    Hosts(const Hosts&) = delete;
    Hosts& operator=(const Hosts&) = delete;
    ~Hosts() { std::system((TOLLBAR_HOSTS " --id " + id_ + " down").c_str()); }

    Rank count() const { return static_cast<Rank>(addresses_.size()); }
    const std::string& address(Rank host) const { return addresses_[host]; }

    /// The end of the host's cable on the bridge.
    std::string port(Rank host) const { return "tb" + id_ + "v" + std::to_string(host + 1); }

    /// The calling thread is on that host until `back`.
    void enter(Rank host) const {
        const std::string name = "/run/netns/tb" + id_ + "h" + std::to_string(host + 1);
        const File space(open(name.c_str(), O_RDONLY));
        if (setns(space.number(), CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter " + name);
    }
    void back() const { setns(root_.number(), CLONE_NEWNET); }

private:
    void script(const std::string& words) const {
        if (std::system((TOLLBAR_HOSTS " --id " + id_ + " " + words).c_str()) != 0)
            throw std::runtime_error("scripts/hosts " + words);
    }

    std::string id_;
    File root_;
    std::vector<std::string> addresses_;
};

/// Of the switch between the hosts.
inline constexpr toll_key switch_key{0x7377697463686b65, 0x79};

/// A daemon a host, each in a thread of its own.
class Daemons {
public:
    explicit Daemons(const Hosts& hosts, const nic::Limits& limits = {.of_switch = switch_key}) {
        for (Rank host = 0; host < hosts.count(); ++host) {
            sockets_.push_back("/tmp/tollbar-nicd-" + std::to_string(getpid()) + "-" + std::to_string(host));
            hosts.enter(host);
            programs_.push_back(std::make_unique<nic::NicPrograms>("eth0", nic::Mode::generic));
            servers_.push_back(std::make_unique<nic::Server>(*programs_.back(), sockets_.back(), limits));
            threads_.emplace_back([server = servers_.back().get()] { server->serve(); });
            hosts.back();
        }
    }
    Daemons(const Daemons&) = delete;
    Daemons& operator=(const Daemons&) = delete;
    ~Daemons() {
        for (Rank host = 0; host < sockets_.size(); ++host) {
            nic::ask(nic::connect_to(sockets_[host]), {.verb = nic::Verb::stop}, {}, std::chrono::seconds(60));
            threads_[host].join();
        }
    }

    const std::string& socket(Rank host) const { return sockets_[host]; }
    nic::NicPrograms& nic(Rank host) const { return *programs_[host]; }

private:
    std::vector<std::string> sockets_;
    std::vector<std::unique_ptr<nic::NicPrograms>> programs_;
    std::vector<std::unique_ptr<nic::Server>> servers_;
    std::vector<std::thread> threads_;
};

}  // namespace tollbar::testing
