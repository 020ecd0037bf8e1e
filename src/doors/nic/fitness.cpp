// SPDX-License-Identifier: Apache-2.0
#include "fitness.hpp"

#include "socket.hpp"

#include "transports/nic/group.h"
#include "transports/wire/steps.hpp"

#include <tollbar/algorithms.hpp>

#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>

namespace tollbar::nic {

namespace {

constexpr int answers_within_ms = 1000;

}  // namespace

Found find_card() noexcept {
    try {
        const File daemon = connect_to(socket_of_daemon(nullptr));
        if (!daemon) return {.address = 0, .error = errno};
        Request request{};
        request.magic = talk_magic;
        request.verb = Verb::address;
        if (!send_request(daemon, request, {})) return {.address = 0, .error = errno};
        const std::optional<Received> answer = receive_answer(daemon, answers_within_ms);
        in_addr address{};
        if (!answer || inet_pton(AF_INET, answer->text.c_str(), &address) != 1)
            return {.address = 0, .error = ETIMEDOUT};
        return {.address = address.s_addr, .error = address.s_addr == 0 ? EADDRNOTAVAIL : 0};
    } catch (const std::exception&) {
        return {.address = 0, .error = ENOMEM};
    }
}

bool is_counted(std::string_view shape) noexcept { return shape == "gather" || shape == "switch"; }

std::string fault_on_card(const std::string& shape, Rank ranks) {
    if (is_counted(shape))
        return ranks <= toll_counted ? "" : "a card counts up to " + std::to_string(toll_counted) + " hosts";
    try {
        const Plan plan = make_plan(shape, ranks);
        for (Rank rank = 0; rank < ranks; ++rank)
            if (const std::size_t steps = compile_steps(plan, rank).size(); steps > toll_card_steps)
                return "host " + std::to_string(rank) + " has " + std::to_string(steps) + " steps, a card runs up to " +
                       std::to_string(toll_card_steps);
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
