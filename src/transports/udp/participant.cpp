// SPDX-License-Identifier: Apache-2.0
// tollbar::udp_participant: a runner, its socket, and what the environment says.
#include <tollbar/udp.hpp>

#include "answering.hpp"
#include "digest.hpp"

#include "base/environment.hpp"
#include "missing/reporting.hpp"
#include "base/random.hpp"
#include "plan/wording.hpp"
#include "wire/steps.hpp"

#include <stdexcept>

namespace tollbar {

using namespace detail;

namespace {

std::vector<UdpAddress> resolve(const std::vector<std::string>& texts) {
    std::vector<UdpAddress> addresses;
    addresses.reserve(texts.size());
    for (const std::string& text : texts) addresses.push_back(udp_address(text));
    refuse_mixed_loopback(addresses);
    return addresses;
}

void check(const Plan& plan, Rank self, std::size_t addresses) {
    if (addresses != plan.ranks())
        throw std::invalid_argument(worded({"there are ", addresses, " addresses for ", plan.ranks(), " ranks"}));
    if (plan.ranks() > toll_most_ranks)
        throw std::invalid_argument(worded({"over UDP there are up to ", std::size_t{toll_most_ranks}, " ranks"}));
    if (self >= plan.ranks()) throw std::invalid_argument(worded({"there is no rank ", self, " of ", plan.ranks()}));
}

}  // namespace

struct udp_endpoint::Hidden {
    explicit Hidden(const std::string& address) : socket(udp_socket(udp_address(address))) {}

    File socket;
};

udp_endpoint::udp_endpoint(const std::string& address) : hidden_(std::make_unique<Hidden>(address)) {}
udp_endpoint::udp_endpoint(udp_endpoint&&) noexcept = default;
udp_endpoint& udp_endpoint::operator=(udp_endpoint&&) noexcept = default;
udp_endpoint::~udp_endpoint() = default;

std::string udp_endpoint::address() const { return to_text(address_of(hidden_->socket)); }

udp_participant::udp_participant(udp_endpoint endpoint, const Plan& plan, Rank self,
                                 const std::vector<std::string>& addresses, const udp_options& options) {
    check(plan, self, addresses.size());
    const wait_policy wait = options.wait == wait_policy::automatic ? environment::wait() : options.wait;
    const std::vector<UdpAddress> hosts = resolve(addresses);
    runner_ = std::make_unique<AnsweringRunner>(
        UdpIdentity{.key = {options.key, options.key_high},
                    .group = options.group,
                    .self = self,
                    .ranks = plan.ranks(),
                    .digest = digest_of(plan, hosts),
                    .drawn = random_number()},
        compile_steps(plan, self), Episode{0}, wait, UdpTiming{.again = options.again, .linger = options.linger},
        std::make_unique<UdpDatagrams>(std::move(endpoint.hidden_->socket), hosts));
}

udp_participant::udp_participant(udp_participant&&) noexcept = default;

udp_participant& udp_participant::operator=(udp_participant&& other) noexcept {
    std::swap(runner_, other.runner_);
    return *this;
}

udp_participant::~udp_participant() = default;

void udp_participant::arrive() noexcept { runner_->arrive(); }

bool udp_participant::test() noexcept { return runner_->test(); }

void udp_participant::wait() noexcept {
    wait_reporting(*runner_, [] { return std::string("group over UDP"); });
}

udp_wait_result udp_participant::wait_until_deadline(Deadline deadline) {
    const bool done = runner_->finish(deadline);
    return {.done = done, .missing = done ? std::vector<Rank>() : missing()};
}

std::vector<Rank> udp_participant::missing() const { return runner_->missing(); }

Rank udp_participant::rank() const noexcept { return runner_->rank(); }

Episode udp_participant::episode() const noexcept { return runner_->episode(); }

udp_traffic udp_participant::traffic() const noexcept {
    const UdpCounts counts = runner_->counts();
    return {
        .sent = counts.sent, .received = counts.news + counts.known + counts.dropped(), .dropped = counts.dropped()};
}

}  // namespace tollbar
