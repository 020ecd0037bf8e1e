// SPDX-License-Identifier: Apache-2.0
// Bad weather between hosts, for as long as the object lives.
#pragma once

#include "hosts.hpp"
#include "storm.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>

namespace tollbar::testing {

class StormOnWires {
public:
    /// On what the first `hosts` hosts send.
    StormOnWires(const Hosts& network, Rank hosts, storm_weather weather) : object_(bpf_object__open(TOLLBAR_STORM)) {
        constexpr auto tcx_ingress = static_cast<bpf_attach_type>(46);
        if (!object_ || bpf_object__load(object_.get()) != 0) throw std::runtime_error("no storm");
        const std::uint32_t first = 0;
        bpf_map_update_elem(nic::map(object_, "weather"), &first, &weather, BPF_ANY);
        for (Rank host = 0; host < hosts; ++host) {
            const auto index = static_cast<int>(if_nametoindex(network.port(host).c_str()));
            wires_.emplace_back(bpf_link_create(nic::program(object_, "blow"), index, tcx_ingress, nullptr));
            if (!wires_.back()) throw std::runtime_error("no storm on " + network.port(host));
        }
    }

    unsigned held() const { return done().held; }
    unsigned altered() const { return done().altered; }

private:
    storm_deeds done() const {
        const std::uint32_t first = 0;
        storm_deeds deeds{};
        bpf_map_lookup_elem(nic::map(object_, "deeds"), &first, &deeds);
        return deeds;
    }

    nic::BpfObject object_;
    std::vector<nic::File> wires_;
};

}  // namespace tollbar::testing
