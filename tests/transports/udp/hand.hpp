// SPDX-License-Identifier: Apache-2.0
// A rank whose datagrams go no further than a list, and frames written by hand.
#pragma once

#include "transports/udp/transport.hpp"
#include "runtime/steps.hpp"

#include <tollbar/detail/runner.hpp>

#include <bit>
#include <cstring>
#include <utility>

namespace tollbar::testing {

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
        constexpr const char* names[] = {"", "signal", "pull", "ask", "here", "leave"};
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
};

inline void seal(toll_frame& frame) { frame.check = toll_net32(toll_check(&frame)); }

inline toll_frame written(toll_kind kind, Rank source, toll_u16 step, Episode episode, Writing in = {}) {
    return toll_sealed(static_cast<toll_u8>(kind), step, toll_net64(in.key), toll_net32(in.group), source, episode, 0);
}

/// Rank `self` of a plan, in no episode after `before` yet.
struct Hand {
    Hand(const Plan& plan, Rank self, Episode before = 0)
        : steps(compile_steps(plan, self)),
          runner(steps.data(), static_cast<std::uint32_t>(steps.size()), before,
                 UdpTransport(
                     Protocol({.key = Writing().key, .group = Writing().group, .self = self, .ranks = plan.ranks()},
                              steps, before, outbox),
                     wait_policy::automatic, {}, outbox)) {}

    void hear(const toll_frame& frame, Rank from) { protocol.hear(std::as_bytes(std::span(&frame, 1)), from); }
    void hear(toll_kind kind, Rank source, toll_u16 step, Episode episode) {
        hear(written(kind, source, step, episode), source);
    }

    /// Enters an episode; true when it is over at once.
    bool start() {
        runner.start();
        return advance();
    }
    bool advance() { return runner.advance(); }

    Outbox outbox;
    std::vector<toll_step> steps;
    Runner<UdpTransport> runner;
    Protocol& protocol = runner.transport().protocol();
};

}  // namespace tollbar::testing
