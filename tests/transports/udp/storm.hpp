// SPDX-License-Identifier: Apache-2.0
// Bad weather between a rank and its network: what it sends is lost, doubled, overtaken and altered, as a seed says.
#pragma once

#include "transports/udp/datagrams.hpp"

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace tollbar::testing {

using namespace detail;

/// Parts of a thousand of all datagrams.
struct Weather {
    unsigned lost = 0;
    unsigned doubled = 0;
    unsigned held = 0;  ///< until a later one of the same rank has been sent
    unsigned altered = 0;
};

class Storm final : public Datagrams {
public:
    Storm(UdpDatagrams network, Weather weather, std::uint64_t seed)
        : network_(std::move(network)), weather_(weather), random_(seed) {}

    void send(Rank to, std::span<const std::byte> datagram) noexcept override {
        if (happens(weather_.lost)) return;
        const int copies = happens(weather_.doubled) ? 2 : 1;
        for (int i = 0; i < copies; ++i) {
            Parcel parcel{to, {datagram.begin(), datagram.end()}};
            if (happens(weather_.altered)) alter(parcel.bytes);
            if (happens(weather_.held))
                held_.push_back(std::move(parcel));
            else
                network_.send(parcel.to, parcel.bytes);
        }
        if (!held_.empty() && random_() % 2 == 0) {
            network_.send(held_.front().to, held_.front().bytes);
            held_.pop_front();
        }
    }

    std::optional<Received> receive(std::span<std::byte> buffer) noexcept override { return network_.receive(buffer); }
    void sleep(Deadline deadline) noexcept override { network_.sleep(deadline); }

private:
    struct Parcel {
        Rank to;
        std::vector<std::byte> bytes;
    };

    bool happens(unsigned in_a_thousand) { return random_() % 1000 < in_a_thousand; }

    /// Cut short, or some bits turned over.
    void alter(std::vector<std::byte>& bytes) {
        if (happens(200)) {
            bytes.resize(random_() % bytes.size());
            return;
        }
        for (auto bits = 1 + random_() % 8; bits > 0; --bits)
            bytes[random_() % bytes.size()] ^= std::byte{1} << random_() % 8;
    }

    UdpDatagrams network_;
    Weather weather_;
    std::mt19937_64 random_;
    std::deque<Parcel> held_;
};

}  // namespace tollbar::testing
