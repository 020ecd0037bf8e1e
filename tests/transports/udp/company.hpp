// SPDX-License-Identifier: Apache-2.0
// Ranks on the loopback, a thread and a socket each, for the toll check: in fine weather and in storms.
#pragma once

#include "storm.hpp"
#include "transports/desk_company.hpp"
#include "transports/udp/runner.hpp"
#include "transports/visitor.hpp"
#include "transports/wire/steps.hpp"

#include <tollbar/udp.hpp>

#include <string>
#include <thread>
#include <utility>

namespace tollbar::testing {

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

/// A free place on the loopback for each rank, and where they are.
struct Places {
    explicit Places(Rank ranks) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            places.emplace_back("127.0.0.1:0");
            addresses.push_back(places.back().address());
        }
    }

    udp_participant join(const Plan& plan, Rank rank, udp_options options = {.key = a_key}) {
        return {std::move(places[rank]), plan, rank, addresses, options};
    }

    std::vector<udp_place> places;
    std::vector<std::string> addresses;
};

/// A runner whose network is in a storm, and whose episodes begin anywhere.
class StormMember {
public:
    StormMember(UdpSocket socket, std::vector<UdpAddress> addresses, const Plan& plan, Rank self, Weather weather,
                Episode before, const UdpPace& pace)
        : parts_(std::make_unique<Parts>(std::move(socket), std::move(addresses), plan, self, weather, before, pace)) {}
    StormMember(StormMember&&) noexcept = default;
    StormMember& operator=(StormMember&&) = delete;
    ~StormMember() {
        if (parts_) parts_->runner.linger();
    }

    void arrive() { parts_->runner.arrive(); }
    bool test() { return parts_->runner.test(); }
    void wait() { parts_->runner.finish({std::chrono::steady_clock::time_point::max()}); }
    void arrive_and_wait() {
        arrive();
        wait();
    }
    bool wait_for(std::chrono::milliseconds limit) { return parts_->runner.finish(deadline_after(limit)); }
    std::vector<Rank> missing() const { return parts_->runner.missing(); }

private:
    struct Parts {
        Parts(UdpSocket socket, std::vector<UdpAddress> addresses, const Plan& plan, Rank self, Weather weather,
              Episode before, const UdpPace& pace)
            : network(std::move(socket), std::move(addresses)), storm(network, weather, 1 + self),
              runner({.key = a_key, .group = 1, .self = self, .ranks = plan.ranks()}, compile_steps(plan, self), before,
                     wait_policy::automatic, pace, storm) {}

        UdpDatagrams network;
        Storm storm;
        UdpRunner runner;
    };

    std::unique_ptr<Parts> parts_;
};

/// A thread for every rank, whatever it is.
template <Member M>
class LoopbackCompany : public DeskCompany {
public:
    explicit LoopbackCompany(std::vector<M> members) : DeskCompany(static_cast<Rank>(members.size())) {
        for (Rank rank = 0; rank < ranks(); ++rank)
            threads_.emplace_back([this, rank, member = std::make_shared<M>(std::move(members[rank]))]() mutable {
                Visitor(std::move(*std::exchange(member, nullptr)), board_, rank).serve();
            });
    }

    ~LoopbackCompany() override {
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
    Places places(plan.ranks());
    std::vector<UdpMember> members;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) members.emplace_back(places.join(plan, rank, options));
    return members;
}

inline std::vector<StormMember> members_in_a_storm(const Plan& plan, Weather weather, Episode before,
                                                   const UdpPace& pace) {
    std::vector<UdpSocket> sockets;
    std::vector<UdpAddress> addresses;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) {
        sockets.emplace_back(udp_address("127.0.0.1:0"));
        addresses.push_back(sockets.back().address());
    }
    std::vector<StormMember> members;
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
        members.emplace_back(std::move(sockets[rank]), addresses, plan, rank, weather, before, pace);
    return members;
}

}  // namespace tollbar::testing
