// SPDX-License-Identifier: Apache-2.0
// Bad weather between hosts, for as long as the object lives.
#pragma once

#include "hosts.hpp"
#include "storm.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>

namespace tollbar::testing {

using namespace detail;

enum class Between : std::uint8_t {
    bridge,  ///< passes everything on
    counting_switch,
};

class StormOnWires {
public:
    /// On what the first `hosts` hosts send; a switch that counts is part of it where one is asked for.
    StormOnWires(const Hosts& network, Rank hosts, storm_weather weather, Between between)
        : object_(bpf_object__open(TOLLBAR_STORM)) {
        if (object_) nic::give_key(object_.get(), switch_key);
        if (!object_ || bpf_object__load(object_.get()) != 0) throw std::runtime_error("no storm");
        const std::uint32_t first = 0;
        bpf_map_update_elem(nic::map(object_, "weather"), &first, &weather, BPF_ANY);
        for (Rank host = 0; host < hosts; ++host) {
            const std::uint32_t index = if_nametoindex(network.port(host).c_str());
            wires_.push_back(between == Between::bridge ? over(index) : over_switch(host, index, network.port(host)));
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

    File over(std::uint32_t index) const {
        constexpr auto tcx_ingress = static_cast<bpf_attach_type>(46);
        return File(bpf_link_create(nic::program(object_, "blow"), static_cast<int>(index), tcx_ingress, nullptr));
    }

    File over_switch(std::uint32_t number, std::uint32_t index, const std::string& port) const {
        bpf_map_update_elem(nic::map(object_, "ports"), &number, &index, BPF_ANY);
        auto mode = nic::Mode::generic;
        return nic::attach_xdp(nic::program(object_, "blow_and_tally"), port, mode);
    }

    nic::BpfObject object_;
    std::vector<File> wires_;
};

}  // namespace tollbar::testing
