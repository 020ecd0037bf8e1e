// SPDX-License-Identifier: Apache-2.0
// tollbar-nicd: the privileged side of barriers on the NIC. `tollbar nic` starts, stops and questions it.
#include "server.hpp"

#include "base/environment.hpp"
#include "base/files.hpp"
#include "wire/frame.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace tollbar::detail::nic;

struct WrongUse : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr const char* usage =
    "usage: tollbar-nicd --interface NAME [--mode auto|native|generic] [--socket FILE] [--groups N] [--per-user N]\n"
    "                    [--linger SECONDS] [--switch-key FILE]\n"
    "       tollbar-nicd --switch PORT[,PORT...] --switch-key FILE [--mode auto|native|generic]\n"
    "       tollbar-nicd --echo ADDRESS\n";

struct Options {
    std::string interface, ports, address, socket;
    Mode mode = Mode::automatic;
    Limits limits{};
};

std::uint32_t number(const char* name, std::uint32_t most) {
    const std::string_view text = optarg;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > most)
        throw WrongUse(std::string(name) + " takes a number up to " + std::to_string(most));
    return value;
}

/// A switch's key: 32 hexadecimal digits in a file that only its user may read.
toll_key key_in(const char* path) {
    struct stat found {};
    std::ifstream file(path);
    std::string digits;
    if (stat(path, &found) != 0 || !(file >> digits)) throw WrongUse(std::string(path) + " cannot be read");
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw WrongUse(std::string(path) + " may be read or written by others: chmod 600");
    toll_key key{};
    const char* const end = digits.data() + digits.size();
    if (digits.size() != 32 || std::from_chars(digits.data(), digits.data() + 16, key.high, 16).ptr != end - 16 ||
        std::from_chars(digits.data() + 16, end, key.low, 16).ptr != end)
        throw WrongUse(std::string(path) + " has no 32 hexadecimal digits (openssl rand -hex 16)");
    return key;
}

Mode mode_named(std::string_view name) {
    if (name == "auto") return Mode::automatic;
    if (name == "native") return Mode::native;
    if (name == "generic") return Mode::generic;
    throw WrongUse("--mode takes auto, native or generic");
}

Options options_of(int count, char** words) {
    constexpr std::array known{
        option{"interface", required_argument, nullptr, 'i'},  option{"switch", required_argument, nullptr, 's'},
        option{"echo", required_argument, nullptr, 'e'},       option{"mode", required_argument, nullptr, 'm'},
        option{"socket", required_argument, nullptr, 'f'},     option{"groups", required_argument, nullptr, 'g'},
        option{"per-user", required_argument, nullptr, 'u'},   option{"linger", required_argument, nullptr, 'l'},
        option{"switch-key", required_argument, nullptr, 'k'}, option{}};
    Options options;
    opterr = 0;  // main() says what is wrong
    for (int which; (which = getopt_long(count, words, "", known.data(), nullptr)) != -1;) switch (which) {
            case 'i': options.interface = optarg; break;
            case 's': options.ports = optarg; break;
            case 'e': options.address = optarg; break;
            case 'm': options.mode = mode_named(optarg); break;
            case 'f': options.socket = optarg; break;
            case 'g': options.limits.groups = number("--groups", toll_groups); break;
            case 'u': options.limits.per_user = number("--per-user", toll_groups); break;
            case 'l': options.limits.linger = std::chrono::seconds(number("--linger", 86400)); break;
            case 'k': options.limits.of_switch = key_in(optarg); break;
            default: throw WrongUse(std::string(words[optind - 1]) + " is no option, or has no value");
        }
    if (optind != count) throw WrongUse(std::string(words[optind]) + " is no option");
    return options;
}

/// Takes all descriptors that this process may have. If these are too few, says for how many groups there is room.
Limits within_descriptors(Limits limits) {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return limits;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur >= limits.descriptors()) return limits;
    const auto room = static_cast<std::uint32_t>(files.rlim_cur) -
                      std::min<std::uint32_t>(Limits::own_descriptors, static_cast<std::uint32_t>(files.rlim_cur));
    limits.silent = std::min(limits.silent, room / 4);
    limits.groups = std::min(limits.groups, (room - limits.silent) / Limits::descriptors_of_group);
    std::cerr << "tollbar-nicd: this process may open " << files.rlim_cur << " files, so there is room for "
              << limits.groups << " groups (LimitNOFILE=)" << std::endl;
    return limits;
}

/// Asks another host's NIC whether it works: how long the answer took; nothing when three questions had none. No socket
/// listens there: the answer comes from the NIC's program, and repeats the number that the question carries.
std::optional<std::chrono::nanoseconds> echo(const std::string& address) {
    sockaddr_in nic{};
    nic.sin_family = AF_INET;
    nic.sin_port = htons(toll_port);
    if (inet_pton(AF_INET, address.c_str(), &nic.sin_addr) != 1)
        throw std::invalid_argument(address + " is not an IPv4 address");
    const tollbar::detail::File asking(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!asking || connect(asking.number(), reinterpret_cast<const sockaddr*>(&nic), sizeof nic) != 0)
        tollbar::detail::throw_errno("a socket towards " + address);
    constexpr int tries = 3;
    constexpr int patience_ms = 300;
    constexpr toll_identity nobody{};  // no group, no key
    std::random_device random;
    for (int attempt = 0; attempt < tries; ++attempt) {
        const toll_u64 number = static_cast<toll_u64>(random()) << 32 | random();
        const toll_frame question = toll_unsealed(&nobody, 0, toll_ask, 0, 0, 0, number);
        const auto began = std::chrono::steady_clock::now();
        send(asking.number(), &question, sizeof question, 0);
        for (pollfd readable{.fd = asking.number(), .events = POLLIN, .revents = 0};
             poll(&readable, 1, patience_ms) == 1;) {
            toll_frame answer{};
            const ssize_t size = recv(asking.number(), &answer, sizeof answer, MSG_DONTWAIT);
            if (size < 0) break;  // the host says that nobody listens there: no NIC took the question
            if (size == sizeof answer && answer.episode == question.episode && answer.name == 0 &&
                answer.kind == toll_here)
                return std::chrono::steady_clock::now() - began;
        }
    }
    return std::nullopt;
}

int run(const Options& options) {
    if (!options.address.empty()) {
        const auto took = echo(options.address);
        if (took) std::cout << std::chrono::duration<double, std::micro>(*took).count() << std::endl;
        return took ? 0 : 1;
    }
    if (!options.ports.empty()) {
        if (!options.limits.of_switch) throw WrongUse("--switch-key is missing");
        const Switch counting(options.ports, options.mode, *options.limits.of_switch);
        std::cout << "ready" << std::endl;
        pause();
        return 0;
    }
    if (options.interface.empty()) throw WrongUse("--interface is missing");
    if (options.socket.empty()) mkdir("/run/tollbar", 0755);
    NicPrograms programs(options.interface, options.mode);
    Server server(programs, options.socket.empty() ? tollbar::detail::environment::default_nicd_socket : options.socket,
                  within_descriptors(options.limits));
    std::cout << "ready" << std::endl;  // for the process that started this
    server.serve();
    return 0;
}

}  // namespace

int main(int count, char** words) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(options_of(count, words));
    } catch (const WrongUse& error) {
        std::cerr << "tollbar-nicd: " << error.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "tollbar-nicd: " << error.what() << '\n';
        return 1;
    }
}
