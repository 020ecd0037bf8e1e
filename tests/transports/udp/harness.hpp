// SPDX-License-Identifier: Apache-2.0
// Ranks on the loopback, a thread and a socket each, for the toll check: in fine weather and in storms.
#pragma once

#include "storm.hpp"
#include "transports/desk_harness.hpp"
#include "transports/udp/answering.hpp"
#include "transports/visitor.hpp"
#include "base/random.hpp"
#include "wire/steps.hpp"

#include <tollbar/udp.hpp>

#include <string>
#include <thread>
#include <utility>

namespace tollbar::testing {

using namespace detail;

inline constexpr std::uint64_t a_key = 0x746f6c6c62617221;

/// tollbar::udp_participant as the suite wants it.
class UdpMember {
public:
    explicit UdpMember(udp_participant self) : self_(std::move(self)) {}

    void arrive() { self_.arrive(); }
    bool test() { return self_.test(); }
    void wait() { self_.wait(); }
    void arrive_and_wait() { self_.arrive_and_wait(); }
    bool wait_for(std::chrono::milliseconds limit) { return static_cast<bool>(self_.wait_for(limit)); }
    std::vector<Rank> missing() const { return self_.missing(); }

private:
    udp_participant self_;
};

/// A free endpoint on the loopback for each rank, and where they are.
struct Endpoints {
    explicit Endpoints(Rank ranks) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            endpoints.emplace_back("127.0.0.1:0");
            addresses.push_back(endpoints.back().address());
        }
    }

    udp_participant join(const Plan& plan, Rank rank, udp_options options = {.key = a_key}) {
        return {std::move(endpoints[rank]), plan, rank, addresses, options};
    }

    std::vector<udp_endpoint> endpoints;
    std::vector<std::string> addresses;
};

/// A runner whose network is in a storm, and whose episodes begin anywhere.
class StormMember {
public:
    StormMember(File socket, std::vector<UdpAddress> addresses, const Plan& plan, Rank self, Weather weather,
                Episode before, const UdpTiming& timing)
        : runner_(std::make_unique<AnsweringRunner>(
              UdpIdentity{.key = {a_key, 0},
                          .group = 1,
                          .self = self,
                          .ranks = plan.ranks(),
                          .digest = 1,
                          .drawn = random_number()},
              compile_steps(plan, self), before, wait_policy::automatic, timing,
              std::make_unique<Storm>(UdpDatagrams(std::move(socket), std::move(addresses)), weather, 1 + self))) {}

    void arrive() { runner_->arrive(); }
    bool test() { return runner_->test(); }
    void wait() { runner_->finish({std::chrono::steady_clock::time_point::max()}); }
    void arrive_and_wait() {
        arrive();
        wait();
    }
    bool wait_for(std::chrono::milliseconds limit) { return runner_->finish(deadline_after(limit)); }
    std::vector<Rank> missing() const { return runner_->missing(); }

private:
    std::unique_ptr<AnsweringRunner> runner_;
};

/// A thread for every rank, whatever it is.
template <Member M>
class LoopbackHarness : public DeskHarness {
public:
    explicit LoopbackHarness(std::vector<M> members) : DeskHarness(static_cast<Rank>(members.size())) {
        for (Rank rank = 0; rank < ranks(); ++rank)
            threads_.emplace_back([this, rank, member = std::make_shared<M>(std::move(members[rank]))]() mutable {
                Visitor(std::move(*std::exchange(member, nullptr)), board_, rank).serve();
            });
    }

    ~LoopbackHarness() override {
        for (Rank rank = 0; rank < ranks(); ++rank) begin(rank, Call::stop);
        for (std::thread& thread : threads_) thread.join();
    }

    /// Who waits answers questions, who stands at a desk does not.
    bool names_exactly() const override { return false; }

private:
    bool alive(Rank) override { return true; }

    std::vector<std::thread> threads_;
};

inline std::vector<UdpMember> members(const Plan& plan, const udp_options& options) {
    Endpoints endpoints(plan.ranks());
    std::vector<UdpMember> members;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) members.emplace_back(endpoints.join(plan, rank, options));
    return members;
}

inline std::vector<StormMember> members_in_a_storm(const Plan& plan, Weather weather, Episode before,
                                                   const UdpTiming& timing) {
    std::vector<File> sockets;
    std::vector<UdpAddress> addresses;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) {
        sockets.push_back(udp_socket(udp_address("127.0.0.1:0")));
        addresses.push_back(address_of(sockets.back()));
    }
    std::vector<StormMember> members;
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
        members.emplace_back(std::move(sockets[rank]), addresses, plan, rank, weather, before, timing);
    return members;
}

}  // namespace tollbar::testing
