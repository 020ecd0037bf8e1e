// SPDX-License-Identifier: Apache-2.0
// Compiled apart from the checker's words, and once for each mutant.
#include "host_member.hpp"

#include "transports/udp/hand.hpp"

namespace tollbar::testing {

using namespace detail;

static_assert(of_group == Writing().incarnation);

toll_identity identity() { return identity_of({}); }

struct HostMember::Hidden {
    Frames sent() {
        Frames frames;
        for (const auto& [to, frame] : std::exchange(hand.outbox.sent, {})) frames.push_back(frame);
        return frames;
    }

    Hand hand;
};

HostMember::HostMember(const Plan& plan, Rank self) : hidden_(new Hidden{.hand = {plan, self}}) {}
HostMember::~HostMember() = default;

Frames HostMember::enter() {
    hidden_->hand.start();
    return hidden_->sent();
}

bool HostMember::over() const { return hidden_->hand.runner.finished(); }

Frames HostMember::pull() {
    hidden_->hand.protocol.pull();
    return hidden_->sent();
}

Frames HostMember::hear(const toll_frame& frame) {
    hidden_->hand.hear(frame, toll_net16(frame.source));
    if (!over()) hidden_->hand.advance();
    return hidden_->sent();
}

}  // namespace tollbar::testing
