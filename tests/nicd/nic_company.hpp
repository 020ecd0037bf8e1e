// SPDX-License-Identifier: Apache-2.0
// Ranks on hosts with cards, for the toll check.
#pragma once

#include "hosts.hpp"
#include "transports/udp/company.hpp"

#include <tollbar/tollbar.h>

namespace tollbar::testing {

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
        std::vector<Rank> found(64);
        std::size_t count = 0;
        demand(tollbar_nic_missing(handle_.get(), found.data(), found.size(), &count));
        found.resize(std::min(count, found.size()));
        return found;
    }

private:
    static void demand(int result) {
        if (result != 0) throw std::runtime_error(tollbar_last_error());
    }

    std::unique_ptr<tollbar_nic, decltype(&tollbar_nic_leave)> handle_;
};

/// A group of the first `ranks` hosts; a new one every time.
inline std::vector<NicMember> nic_members(const Hosts& hosts, const Daemons& daemons, Rank ranks,
                                          const std::string& plan, const char* wait = nullptr) {
    static std::uint32_t groups = 0;
    ++groups;
    std::vector<const char*> addresses;
    for (Rank rank = 0; rank < ranks; ++rank) addresses.push_back(hosts.address(rank).c_str());
    std::vector<NicMember> members;
    for (Rank rank = 0; rank < ranks; ++rank) {
        const tollbar_nic_group group{
            .key = a_key, .id = groups, .rank = rank, .ranks = ranks, .hosts = addresses.data(), .key_high = 1};
        const tollbar_nic_options options{
            .plan = plan.c_str(), .daemon = daemons.socket(rank).c_str(), .wait = wait, .only_card = 1};
        tollbar_nic* member = nullptr;
        hosts.enter(rank);
        const int result = tollbar_nic_join(&group, &options, &member);
        hosts.back();
        if (result != 0) throw std::runtime_error(tollbar_last_error());
        members.emplace_back(member);
    }
    return members;
}

/// A card answers whether its host has arrived, whatever its host does.
class NicCompany : public LoopbackCompany<NicMember> {
public:
    using LoopbackCompany::LoopbackCompany;
    bool names_exactly() const override { return true; }
};

}  // namespace tollbar::testing
