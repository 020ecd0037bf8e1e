// SPDX-License-Identifier: Apache-2.0
// tollbar-nicd: the privileged side of barriers on the card. `tollbar nic` starts, stops and questions it.
#include "echo.hpp"
#include "server.hpp"

#include "runtime/environment.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <getopt.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace tollbar::nic;

struct WrongUse : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr const char* usage =
    "usage: tollbar-nicd --interface NAME [--mode auto|native|generic] [--socket FILE] [--groups N] [--per-user N]\n"
    "                    [--linger SECONDS]\n"
    "       tollbar-nicd --switch PORT[,PORT...] [--mode auto|native|generic]\n"
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

Mode mode_named(std::string_view name) {
    if (name == "auto") return Mode::automatic;
    if (name == "native") return Mode::native;
    if (name == "generic") return Mode::generic;
    throw WrongUse("--mode takes auto, native or generic");
}

Options options_of(int count, char** words) {
    constexpr std::array known{option{"interface", required_argument, nullptr, 'i'},
                               option{"switch", required_argument, nullptr, 's'},
                               option{"echo", required_argument, nullptr, 'e'},
                               option{"mode", required_argument, nullptr, 'm'},
                               option{"socket", required_argument, nullptr, 'f'},
                               option{"groups", required_argument, nullptr, 'g'},
                               option{"per-user", required_argument, nullptr, 'u'},
                               option{"linger", required_argument, nullptr, 'l'},
                               option{}};
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
            default: throw WrongUse(std::string(words[optind - 1]) + " is no option, or has no value");
        }
    if (optind != count) throw WrongUse(std::string(words[optind]) + " is no option");
    return options;
}

int run(const Options& options) {
    if (!options.address.empty()) {
        const auto took = echo(options.address);
        if (took) std::cout << std::chrono::duration<double, std::micro>(*took).count() << std::endl;
        return took ? 0 : 1;
    }
    if (!options.ports.empty()) {
        const Switch counting(options.ports, options.mode);
        std::cout << "ready" << std::endl;
        pause();
        return 0;
    }
    if (options.interface.empty()) throw WrongUse("--interface is missing");
    if (options.socket.empty()) mkdir("/run/tollbar", 0755);
    NicPrograms programs(options.interface, options.mode);
    Server server(programs, options.socket.empty() ? tollbar::environment::default_nicd_socket : options.socket,
                  options.limits);
    std::cout << "ready" << std::endl;  // for whoever started this
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
