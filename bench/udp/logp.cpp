// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-logp-udp: round trips between two threads, by frames over UDP on the loopback.
#include "round_trips.hpp"

#include "transports/udp/datagrams.hpp"
#include "wire/frame.h"

#include <tollbar/detail/cpus.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace tollbar::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const toll_identity who = toll_identity_of({1, 0}, 0, 0);  // nobody else sends to these sockets
const toll_sip sealing = toll_sealing(&who, 1, 0);
constexpr auto lost_after = 1s;
constexpr auto polite = 5us;  // as a rank looks for a frame before it sleeps

/// Frames as the transport makes them and believes them, without its second chances: what is lost on the loopback
/// ends the program. With a CPU for each, both ends stay awake: what a wake-up costs its sender is no overhead of a
/// frame. Memory order: that of the kernel's sockets.
class alignas(line_bytes) FrameEnd {
public:
    FrameEnd(Rank rank, std::array<UdpDatagrams, 2>* networks, bool roomy)
        : rank_(rank), network_((*networks)[rank]), awake_(roomy ? Clock::duration(lost_after) : polite) {}

    void begin(std::uint32_t) noexcept { ++episode_; }

    void send(std::uint32_t channel) noexcept {
        toll_frame frame = toll_unsealed(&who, 1, toll_signal, static_cast<toll_u16>(channel), rank_, 1 - rank_,
                                         episode_);
        frame.mac = toll_mac_of(&sealing, &frame);
        network_.send(1 - rank_, std::bit_cast<std::array<std::byte, sizeof frame>>(frame));
    }

    void receive(std::uint32_t channel) noexcept {
        const auto since = Clock::now();
        while (!heard(channel)) {
            const auto waited = Clock::now() - since;
            if (waited > lost_after) {
                std::fputs("tollbar-bench-logp-udp: a frame was lost on the loopback\n", stderr);
                std::_Exit(1);
            }
            if (waited > awake_) network_.sleep({since + lost_after});
        }
    }

private:
    bool heard(std::uint32_t channel) noexcept {
        std::array<std::byte, sizeof(toll_frame)> bytes;
        const auto received = network_.receive(bytes);
        if (!received || received->size != bytes.size()) return false;
        const auto frame = std::bit_cast<toll_frame>(bytes);
        return frame.name == who.name && frame.mac == toll_mac_of(&sealing, &frame) &&
               toll_net16(frame.step) == channel && toll_net64(frame.episode) == episode_;
    }

    Rank rank_;
    UdpDatagrams& network_;
    Clock::duration awake_;
    std::uint64_t episode_ = 0;
};

int measure(Launch& launch) {
    launch.refuse_names();
    launch.begin();
    const bool roomy = std::min(tollbar::detail::usable_cpus(), quota_cpus()) >= 2;
    std::array sockets{udp_socket(udp_address("127.0.0.1:0")), udp_socket(udp_address("127.0.0.1:0"))};
    const std::vector<UdpAddress> addresses{address_of(sockets[0]), address_of(sockets[1])};
    std::array<UdpDatagrams, 2> networks{UdpDatagrams(std::move(sockets[0]), addresses),
                                         UdpDatagrams(std::move(sockets[1]), addresses)};
    ThreadCrew crew(launch.options.ranks, launch.places());
    RoundTrips<FrameEnd> frames(launch, crew, "frames", &networks, roomy);
    Rounds rounds(launch, crew);
    return rounds.run([&](std::uint32_t round) {
        rounds.floors(round);
        frames.round(round);
        return true;
    });
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-logp-udp", .measure = measure}, count, words);
}
