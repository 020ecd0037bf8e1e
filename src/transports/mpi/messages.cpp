// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <system_error>

namespace tollbar::mpi {

namespace {

tollbar_channel* given(tollbar_channel* channel) {
    if (channel != nullptr) return channel;
    throw std::system_error(std::make_error_code(std::errc::io_error), "the MPI gave no channel");
}

}  // namespace

Messages::~Messages() {
    for (const auto* channels : {&sends_, &receives_})
        for (tollbar_channel* channel : *channels) p2p_.close(p2p_.state, channel);
}

MessageStep Messages::to(Rank peer) {
    sends_.push_back(given(p2p_.open(p2p_.state, peer, TOLLBAR_TO_PEER, nullptr, 0)));
    return {.kind = MessageStep::Kind::send, .channel = sends_.back()};
}

MessageStep Messages::from(Rank peer) {
    receives_.push_back(given(p2p_.open(p2p_.state, peer, TOLLBAR_FROM_PEER, nullptr, 0)));
    return {.kind = MessageStep::Kind::receive, .channel = receives_.back()};
}

std::vector<MessageStep> Messages::place(Lowering& plan, Rank self, const LoweredStep& step) {
    using Kind = LoweredStep::Kind;
    if (step.kind == Kind::signal) return {to(plan.first_player(step.to))};
    if (step.kind == Kind::await) return {from(plan.first_player(step.from))};

    const Rank player = plan.first_player(step.role);
    const bool plays = self == player;
    std::vector<Step> steps;
    const auto hear_from_others = [&] {
        for (const Rank member : plan.members(step.role))
            if (const Rank other = plan.first_player(member); other != player) steps.push_back(from(other));
    };
    const auto tell_others = [&] {
        for (const Rank member : plan.members(step.role))
            if (const Rank other = plan.first_player(member); other != player) steps.push_back(to(other));
    };
    // A role that nobody plays is full when all its members have come: its counter is their release.
    const bool releases = step.share == plan.members(step.role).size();
    if (step.kind == Kind::count && !plays) steps.push_back(to(player));
    if (step.kind == Kind::counted && plays) hear_from_others();
    if (step.kind == Kind::release || (step.kind == Kind::counted && plays && releases)) tell_others();
    if (step.kind == Kind::released || (step.kind == Kind::counted && !plays)) steps.push_back(from(player));
    return steps;
}

std::vector<MessageStep> Messages::leaving() const {
    std::vector<MessageStep> steps;
    for (tollbar_channel* channel : sends_) steps.push_back({.kind = MessageStep::Kind::leave, .channel = channel});
    return steps;
}

void Messages::start(tollbar_channel* channel) noexcept {
    if (p2p_.start(p2p_.state, channel) != 0) refused_ = true;
}

void Messages::post_receives() noexcept {
    for (tollbar_channel* channel : receives_) start(channel);
}

std::uint32_t Messages::take(const Step& step, Episode episode) noexcept {
    if (step.kind != Step::Kind::send) return met(step, episode) ? 1 : 0;
    start(step.channel);
    return 1;
}

bool Messages::met(const Step& step, Episode) noexcept { return !refused_ && p2p_.done(p2p_.state, step.channel) > 0; }

}  // namespace tollbar::mpi
