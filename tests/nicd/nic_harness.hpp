// SPDX-License-Identifier: Apache-2.0
// Ranks on hosts with NICs, for the toll check.
#pragma once

#include "hosts.hpp"
#include "transports/udp/harness.hpp"

#include <tollbar/tollbar.h>

namespace tollbar::testing {

using namespace detail;

/// include/tollbar/nic.h as the suite wants it.
class NicMember {
public:
    explicit NicMember(tollbar_nic* handle) : handle_(handle, tollbar_nic_leave) {}

    void arrive() { demand(tollbar_nic_arrive(handle_.get())); }
    bool test() { return tollbar_nic_test(handle_.get()) == 0; }
    void wait() { demand(tollbar_nic_wait(handle_.get())); }
    void arrive_and_wait() { demand(tollbar_nic_arrive_and_wait(handle_.get())); }
    bool wait_for(std::chrono::milliseconds limit) {
        const int result = tollbar_nic_wait_for(handle_.get(), limit.count() * 1000000);
        return result == ETIMEDOUT ? false : (demand(result), true);
    }
    std::vector<Rank> missing() const {
        std::vector<tollbar_missing> found(64);
        std::size_t count = 0;
        demand(tollbar_nic_missing(handle_.get(), found.data(), found.size(), &count));
        std::vector<Rank> ranks;
        for (std::size_t i = 0; i < std::min(count, found.size()); ++i) ranks.push_back(found[i].rank);
        return ranks;
    }

private:
    static void demand(int result) {
        if (result != 0) throw std::runtime_error(tollbar_last_error());
    }

    std::unique_ptr<tollbar_nic, decltype(&tollbar_nic_leave)> handle_;
};

/// As nic.h takes it: both halves little-endian.
inline void set_key(tollbar_nic_group& group, std::uint64_t low, std::uint64_t high) {
    for (unsigned i = 0; i < 16; ++i) group.key[i] = static_cast<std::uint8_t>((i < 8 ? low : high) >> i % 8 * 8);
}

/// A group of the first `ranks` hosts; a new one every time.
inline std::vector<NicMember> nic_members(const Hosts& hosts, const Daemons& daemons, Rank ranks,
                                          const std::string& plan, tollbar_wait wait = TOLLBAR_WAIT_AUTO) {
    static std::uint32_t groups = 0;
    ++groups;
    std::vector<const char*> addresses;
    for (Rank rank = 0; rank < ranks; ++rank) addresses.push_back(hosts.address(rank).c_str());
    std::vector<NicMember> members;
    for (Rank rank = 0; rank < ranks; ++rank) {
        tollbar_nic_group group{.key = {}, .id = groups, .rank = rank, .ranks = ranks, .hosts = addresses.data()};
        set_key(group, a_key, 1);
        const tollbar_nic_options options{
            .plan = plan.c_str(), .daemon = daemons.socket(rank).c_str(), .wait = wait, .only_nic = 1, .reserved = {}};
        tollbar_nic* member = nullptr;
        hosts.enter(rank);
        const int result = tollbar_nic_join(&group, &options, &member);
        hosts.back();
        if (result != 0) throw std::runtime_error(tollbar_last_error());
        members.emplace_back(member);
    }
    return members;
}

/// A NIC answers whether its host has arrived, whatever its host does.
class NicHarness : public LoopbackHarness<NicMember> {
public:
    using LoopbackHarness::LoopbackHarness;
    bool names_exactly() const override { return true; }
};

}  // namespace tollbar::testing
