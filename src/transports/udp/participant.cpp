// SPDX-License-Identifier: Apache-2.0
// tollbar::udp_participant: a runner, its socket, and what the environment says.
#include <tollbar/udp.hpp>

#include "runner.hpp"
#include "transports/wire/steps.hpp"

#include <tollbar/environment.hpp>

#include <cstdio>
#include <optional>
#include <stdexcept>

namespace tollbar {

namespace {

std::vector<UdpAddress> resolve(const std::vector<std::string>& texts) {
    std::vector<UdpAddress> addresses;
    addresses.reserve(texts.size());
    for (const std::string& text : texts) addresses.push_back(udp_address(text));
    return addresses;
}

void check(const Plan& plan, Rank self, std::size_t addresses) {
    if (addresses != plan.ranks())
        throw std::invalid_argument("there are " + std::to_string(addresses) + " addresses for " +
                                    std::to_string(plan.ranks()) + " ranks");
    if (self >= plan.ranks())
        throw std::invalid_argument("there is no rank " + std::to_string(self) + " of " + std::to_string(plan.ranks()));
}

constexpr Deadline for_ever{std::chrono::steady_clock::time_point::max()};

/// Where episodes begin to count on the wire.
constexpr Episode before = 0;

}  // namespace

struct udp_place::Hidden {
    explicit Hidden(const std::string& address) : socket(udp_address(address)) {}

    UdpSocket socket;
};

udp_place::udp_place(const std::string& address) : hidden_(std::make_unique<Hidden>(address)) {}
udp_place::udp_place(udp_place&&) noexcept = default;
udp_place& udp_place::operator=(udp_place&&) noexcept = default;
udp_place::~udp_place() = default;

std::string udp_place::address() const { return to_text(hidden_->socket.address()); }

struct udp_participant::Hidden {
    Hidden(UdpSocket socket, const Plan& plan, Rank self, const std::vector<std::string>& addresses,
           const udp_options& options)
        : rank(self), network(std::move(socket), resolve(addresses)),
          runner({.key = options.key, .group = options.group, .self = self, .ranks = plan.ranks()},
                 compile_steps(plan, self), before,
                 options.wait == wait_policy::automatic ? wait_policy_from_environment() : options.wait,
                 {.again = options.again, .linger = options.linger}, network) {}

    Rank rank;
    UdpDatagrams network;
    UdpRunner runner;
};

udp_participant::udp_participant(udp_place place, const Plan& plan, Rank self,
                                 const std::vector<std::string>& addresses, const udp_options& options) {
    check(plan, self, addresses.size());
    hidden_ = std::make_unique<Hidden>(std::move(place.hidden_->socket), plan, self, addresses, options);
}

udp_participant::udp_participant(udp_participant&&) noexcept = default;

udp_participant& udp_participant::operator=(udp_participant&& other) noexcept {
    std::swap(hidden_, other.hidden_);
    return *this;
}

udp_participant::~udp_participant() {
    if (hidden_ && episode() != 0) hidden_->runner.linger();
}

void udp_participant::arrive() noexcept { hidden_->runner.arrive(); }

bool udp_participant::test() noexcept { return hidden_->runner.test(); }

void udp_participant::wait() noexcept {
    static const auto timeout = timeout_from_environment();
    if (!timeout) {
        hidden_->runner.finish(for_ever);
        return;
    }
    for (auto waited = *timeout; !hidden_->runner.finish(deadline_after(*timeout)); waited += *timeout) {
        try {
            std::string names;
            for (const Rank rank : missing()) names += (names.empty() ? "" : ", ") + std::to_string(rank);
            std::fprintf(stderr, "tollbar: rank %u has waited %.1f s in episode %llu for rank %s\n",
                         static_cast<unsigned>(rank()), waited.count(), static_cast<unsigned long long>(episode()),
                         names.c_str());
        } catch (const std::exception&) {  // no memory for the report: go on waiting, that matters more
        }
    }
}

udp_wait_result udp_participant::wait_until_deadline(Deadline deadline) {
    const bool done = hidden_->runner.finish(deadline);
    return {.done = done, .missing = done ? std::vector<Rank>() : missing()};
}

std::vector<Rank> udp_participant::missing() const { return hidden_->runner.missing(); }

Rank udp_participant::rank() const noexcept { return hidden_->rank; }

Episode udp_participant::episode() const noexcept { return hidden_->runner.episode() - before; }

udp_traffic udp_participant::traffic() const noexcept {
    const UdpCounts counts = hidden_->runner.counts();
    return {
        .sent = counts.sent, .received = counts.heard + counts.known + counts.dropped(), .dropped = counts.dropped()};
}

}  // namespace tollbar
