// SPDX-License-Identifier: Apache-2.0
// Every host gets a daemon of its own; all of them are children of this program and end with it.
#include "nics.hpp"

#include <tollbar/nic.h>
#include <tollbar/tollbar.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tollbar::bench {

namespace {

/// "tbXh3" is the host at the far end of "tbXv3", as scripts/hosts names them.
std::string port_of(std::string host) {
    const std::size_t letter = host.find_last_of('h');
    if (letter != host.npos) host[letter] = 'v';
    return host;
}

/// A group of a job of its own.
class NicBarrier {
public:
    class Seat {
    public:
        explicit Seat(tollbar_nic* member) : member_(member, tollbar_nic_leave) {}
        void episode() {
            if (tollbar_nic_arrive_and_wait(member_.get()) != 0) throw std::runtime_error(tollbar_last_error());
        }

    private:
        std::unique_ptr<tollbar_nic, decltype(&tollbar_nic_leave)> member_;
    };

    NicBarrier(std::shared_ptr<const Nics> nics, Rank ranks, std::string plan, tollbar_wait wait)
        : nics_(std::move(nics)), plan_(std::move(plan)), wait_(wait) {
        std::random_device device;
        for (std::uint8_t& byte : key_) byte = static_cast<std::uint8_t>(device());
        for (Rank rank = 0; rank < ranks; ++rank) addresses_.push_back(nics_->network().host(rank).address.c_str());
    }

    Seat seat(Rank rank) {
        const std::string daemon = nics_->socket(rank);
        tollbar_nic_group group{.key = {},
                                .id = 1,
                                .rank = rank,
                                .ranks = static_cast<Rank>(addresses_.size()),
                                .hosts = addresses_.data()};
        std::ranges::copy(key_, group.key);
        const tollbar_nic_options options{
            .plan = plan_.c_str(), .daemon = daemon.c_str(), .wait = wait_, .only_nic = 1, .reserved = {}};
        tollbar_nic* member = nullptr;
        int result = 0;
        nics_->network().on_host(rank, [&] { result = tollbar_nic_join(&group, &options, &member); });
        if (result != 0) throw std::runtime_error(tollbar_last_error());
        return Seat(member);
    }

private:
    std::shared_ptr<const Nics> nics_;
    std::string plan_;
    tollbar_wait wait_;
    std::array<std::uint8_t, 16> key_;
    std::vector<const char*> addresses_;
};

}  // namespace

Nics::Nics(std::shared_ptr<const Network> network) : network_(std::move(network)) {
    if (network_->host(0).name.empty()) throw std::runtime_error("the loopback has no NICs");
    write_key();
    std::string ports;
    for (Rank rank = 0; rank < network_->hosts(); ++rank) {
        network_->on_host(rank, [&] {
            start({"--interface", "eth0", "--mode", "generic", "--socket", socket(rank), "--switch-key", key_file()});
        });
        if (rank != 0) ports += ',';
        ports += port_of(network_->host(rank).name);
    }
    start({"--switch", ports, "--mode", "generic", "--switch-key", key_file()});
}

Nics::~Nics() {
    for (const pid_t daemon : daemons_) {
        kill(daemon, SIGKILL);
        waitpid(daemon, nullptr, 0);
    }
    for (Rank rank = 0; rank < network_->hosts(); ++rank) unlink(socket(rank).c_str());
    unlink(key_file().c_str());
}

std::string Nics::key_file() const { return socket(network_->hosts()) + ".key"; }

void Nics::write_key() const {
    const int file = open(key_file().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    std::random_device device;
    std::array<char, 33> digits{};
    for (std::size_t i = 0; i < 32; i += 8) std::snprintf(digits.data() + i, 9, "%08x", device());
    const bool written = file >= 0 && write(file, digits.data(), 32) == 32;
    if (file >= 0) close(file);
    if (!written) throw std::runtime_error("no file for the switch's key");
}

std::string Nics::socket(Rank rank) const {
    return (std::filesystem::temp_directory_path() / ("tollbar-bench-" + std::to_string(getpid()) + "-")).string() +
           std::to_string(rank);
}

void Nics::start(std::vector<std::string> words) {
    words.insert(words.begin(), std::filesystem::read_symlink("/proc/self/exe").replace_filename("tollbar-nicd"));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::array<int, 2> said{};
    if (pipe(said.data()) != 0) throw std::runtime_error("no pipe for a daemon");
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(said[1], STDOUT_FILENO);
        close(said[0]);
        close(said[1]);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    close(said[1]);
    std::array<char, 5> ready{};
    const bool up = child > 0 && read(said[0], ready.data(), ready.size()) == 5;
    close(said[0]);
    if (child > 0) daemons_.push_back(child);
    if (!up) throw std::runtime_error(words[0] + " does not start");
}

void add_nics(Roster& roster, Rank ranks, const std::shared_ptr<const Network>& network) {
    constexpr std::array plans{"pairwise", "dissemination", "gather", "switch"};
    std::shared_ptr<const Nics> nics;
    try {
        nics = std::make_shared<const Nics>(network);
    } catch (const std::exception& error) {
        for (const std::string plan : plans) roster.skipped.push_back({"card:" + plan, error.what()});
        return;
    }
    for (const std::string plan : plans)
        for (const auto& [name, wait] :
             {std::pair("auto", TOLLBAR_WAIT_AUTO), {"park", TOLLBAR_WAIT_PARK}, {"spin", TOLLBAR_WAIT_SPIN}}) {
            const Manners manners = wait == TOLLBAR_WAIT_SPIN ? Manners::spins : Manners::gives_way;
            roster.add<NicBarrier>({"card:" + plan, "card", name, manners}, nics, ranks, plan, wait);
        }
}

}  // namespace tollbar::bench
