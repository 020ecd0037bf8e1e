// SPDX-License-Identifier: Apache-2.0
// tollbar-nicd: the privileged side of barriers on the card. `tollbar nic` starts, stops and questions it.
#include "echo.hpp"
#include "server.hpp"
#include "switch.hpp"

#include "runtime/environment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iostream>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>

#include <sys/stat.h>

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

using Options = std::map<std::string_view, std::string_view>;

Options options_of(std::span<char*> words) {
    Options options;
    if (words.size() % 2 != 0) throw WrongUse("an option has no value");
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const std::string_view name = words[i];
        constexpr std::array known{"--interface", "--switch", "--echo",     "--mode",
                                   "--socket",    "--groups", "--per-user", "--linger"};
        if (std::ranges::find(known, name) == known.end()) throw WrongUse("unknown option " + std::string(name));
        options[name] = words[i + 1];
    }
    return options;
}

std::uint32_t number(const Options& options, std::string_view name, std::uint32_t otherwise, std::uint32_t most) {
    const auto found = options.find(name);
    if (found == options.end()) return otherwise;
    const std::string_view text = found->second;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > most)
        throw WrongUse(std::string(name) + " takes a number up to " + std::to_string(most));
    return value;
}

Mode mode_of(const Options& options) {
    const auto found = options.find("--mode");
    if (found == options.end() || found->second == "auto") return Mode::automatic;
    if (found->second == "native") return Mode::native;
    if (found->second == "generic") return Mode::generic;
    throw WrongUse("--mode takes auto, native or generic");
}

/// Exit code 1 when the card does not answer.
int ask(const std::string& address) {
    const auto took = echo(address);
    if (took) std::cout << std::chrono::duration<double, std::micro>(*took).count() << std::endl;
    return took ? 0 : 1;
}

int run(const Options& options) {
    if (const auto address = options.find("--echo"); address != options.end()) return ask(std::string(address->second));
    if (const auto ports = options.find("--switch"); ports != options.end()) {
        const Switch counting(ports->second, mode_of(options));
        std::cout << "ready" << std::endl;
        pause();
        return 0;
    }
    const auto interface = options.find("--interface");
    if (interface == options.end()) throw WrongUse("--interface is missing");
    const auto named = options.find("--socket");
    const std::string socket(named == options.end() ? tollbar::environment::default_nicd_socket : named->second);
    Limits limits;
    limits.groups = number(options, "--groups", limits.groups, toll_groups);
    limits.per_user = number(options, "--per-user", limits.per_user, toll_groups);
    limits.linger = std::chrono::seconds(number(options, "--linger", 60, 86400));
    if (named == options.end()) mkdir("/run/tollbar", 0755);
    NicPrograms programs(std::string(interface->second), mode_of(options));
    Server server(programs, socket, limits);
    std::cout << "ready" << std::endl;  // for whoever started this
    server.serve();
    return 0;
}

}  // namespace

int main(int count, char** words) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(options_of(std::span(words + 1, static_cast<std::size_t>(count - 1))));
    } catch (const WrongUse& error) {
        std::cerr << "tollbar-nicd: " << error.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "tollbar-nicd: " << error.what() << '\n';
        return 1;
    }
}
