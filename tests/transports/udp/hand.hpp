// SPDX-License-Identifier: Apache-2.0
// A rank whose datagrams go no further than a list, and frames written by hand.
#pragma once

#include "transports/udp/transport.hpp"
#include "wire/steps.hpp"

#include <tollbar/detail/runner.hpp>

#include <bit>
#include <cstring>
#include <utility>

namespace tollbar::testing {

using namespace detail;

/// Keeps what is sent.
class Outbox final : public Datagrams {
public:
    void send(Rank to, std::span<const std::byte> datagram) noexcept override {
        toll_frame frame;
        std::memcpy(&frame, datagram.data(), sizeof frame);
        sent.emplace_back(to, frame);
    }
    std::optional<Received> receive(std::span<std::byte>) noexcept override { return std::nullopt; }
    void sleep(Deadline) noexcept override {}

    /// What was sent since the last time: "signal 1 step 0 episode 5 to 2".
    std::vector<std::string> take() {
        std::vector<std::string> said;
        constexpr const char* names[] = {"",        "signal", "pull",  "ask",    "here", "leave",  "gather",
                                         "release", "join",   "offer", "refuse", "call", "welcome"};
        for (const auto& [to, frame] : std::exchange(sent, {}))
            said.push_back(std::string(names[frame.kind]) + " step " + std::to_string(toll_net16(frame.step)) +
                           " episode " + std::to_string(toll_net64(frame.episode)) + " to " + std::to_string(to));
        return said;
    }

    std::vector<std::pair<Rank, toll_frame>> sent;
};

struct Writing {
    std::uint64_t key = 42;
    std::uint32_t group = 1;
    std::uint64_t digest = 7;
    std::uint64_t incarnation = 99;
    Rank to = 0;
};

inline toll_identity identity_of(const Writing& in) { return toll_identity_of({in.key, 0}, in.group, in.digest); }

inline void seal(toll_frame& frame, const Writing& in = {}) {
    const toll_identity who = identity_of(in);
    const toll_sip sealing = toll_sealing(&who, frame.incarnation, frame.digest);
    frame.mac = toll_mac_of(&sealing, &frame);
}

inline toll_frame written(toll_kind kind, Rank source, toll_u16 step, Episode episode, Writing in = {}) {
    const toll_identity who = identity_of(in);
    toll_frame frame = toll_unsealed(&who, in.incarnation, static_cast<toll_u8>(kind), step, source, in.to, episode);
    seal(frame, in);
    return frame;
}

/// Rank `self` of a plan, in no episode after `before` yet, admitted to the incarnation that Writing has.
struct Hand {
    Hand(const Plan& plan, Rank self, Episode before = 0)
        : rank(self), steps(compile_steps(plan, self)),
          runner(steps.data(), static_cast<std::uint32_t>(steps.size()), before,
                 UdpTransport(Protocol({.key = {Writing().key, 0},
                                        .group = Writing().group,
                                        .self = self,
                                        .ranks = plan.ranks(),
                                        .digest = Writing().digest,
                                        .drawn = self == 0 ? Writing().incarnation : drawn},
                                       steps, before, outbox),
                              wait_policy::automatic, {}, outbox)) {
        if (self != 0)
            hear(written(toll_welcome, 0, 0, toll_net64(Writing().incarnation), {.incarnation = drawn, .to = self}), 0);
        outbox.sent.clear();
    }

    static constexpr std::uint64_t drawn = 1000;

    void hear(const toll_frame& frame, Rank from) { protocol.hear(std::as_bytes(std::span(&frame, 1)), from); }
    void hear(toll_kind kind, Rank source, toll_u16 step, Episode episode) {
        hear(written(kind, source, step, episode, {.to = rank}), source);
    }

    /// Enters an episode; true when it is over at once.
    bool start() {
        runner.start();
        return advance();
    }
    bool advance() { return runner.advance(); }

    Rank rank;
    Outbox outbox;
    std::vector<toll_step> steps;
    Runner<UdpTransport> runner;
    Protocol& protocol = runner.transport().protocol();
};

}  // namespace tollbar::testing
