// SPDX-License-Identifier: Apache-2.0
#include "local_nic.hpp"

#include "connection.hpp"

#include "plan/schedule.hpp"
#include "wire/steps.hpp"
#include "transports/nic/descriptor.hpp"

#include <tollbar/algorithms.hpp>

#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>

namespace tollbar::detail::nic {

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
    if (is_counted(spelling)) return nic_limit(0, ranks, 0);
    try {
        const Plan plan = played_by_first(make_plan(spelling, ranks));
        for (Rank rank = 0; rank < ranks; ++rank)
            if (std::string limit = nic_limit(rank, ranks, count_steps(plan.program(rank))); !limit.empty())
                return limit;
        return "";
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()) + " (also on NICs: gather, switch)";
    }
}

std::string text_of_address(std::uint32_t address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
}

}  // namespace tollbar::detail::nic
