// SPDX-License-Identifier: Apache-2.0
#include "local_nic.hpp"

#include "connection.hpp"

#include "plan/lower.hpp"
#include "runtime/steps.hpp"
#include "transports/nic/group.h"

#include <tollbar/algorithms.hpp>

#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>

namespace tollbar::nic {

Found find_nic() noexcept {
    try {
        const File daemon = connect_to(socket_of_daemon(nullptr));
        if (!daemon) return {.address = 0, .error = errno};
        const auto answer = ask(daemon, {.verb = Verb::address}, {}, std::chrono::seconds(1));
        in_addr address{};
        if (!answer || inet_pton(AF_INET, answer->text.c_str(), &address) != 1)
            return {.address = 0, .error = ETIMEDOUT};
        return {.address = address.s_addr, .error = address.s_addr == 0 ? EADDRNOTAVAIL : 0};
    } catch (const std::exception&) {
        return {.address = 0, .error = ENOMEM};
    }
}

bool is_counted(std::string_view spelling) noexcept { return spelling == "gather" || spelling == "switch"; }

std::string fault_on_nic(const std::string& spelling, Rank ranks) {
    if (is_counted(spelling))
        return ranks <= toll_counted ? "" : "a card counts up to " + std::to_string(toll_counted) + " hosts";
    try {
        const Plan plan = played_by_first(make_plan(spelling, ranks));
        for (Rank rank = 0; rank < ranks; ++rank)
            if (const std::size_t steps = count_steps(plan.program(rank)); steps > toll_nic_steps)
                return "host " + std::to_string(rank) + " has " + std::to_string(steps) + " steps, a card runs up to " +
                       std::to_string(toll_nic_steps);
        return "";
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()) + " (also on cards: gather, switch)";
    }
}

std::string text_of_address(std::uint32_t address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
}

}  // namespace tollbar::nic
