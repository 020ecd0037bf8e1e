// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <system_error>

namespace tollbar::detail::mpi {

Messages::~Messages() {
    for (const auto* channels : {&sends_, &receives_})
        for (tollbar_channel* channel : *channels) p2p_.close(p2p_.state, channel);
}

MessageStep Messages::open(tollbar::Step step) {
    const bool sends = is_signal(step);
    const tollbar_way way = sends ? TOLLBAR_TO_PEER : TOLLBAR_FROM_PEER;
    tollbar_channel* const channel = p2p_.open(p2p_.state, step.peer, way, nullptr, 0);
    if (channel == nullptr)
        throw std::system_error(std::make_error_code(std::errc::no_buffer_space), "the MPI gave no channel");
    (sends ? sends_ : receives_).push_back(channel);
    return {.kind = sends ? MessageStep::Kind::send : MessageStep::Kind::receive, .channel = channel};
}

std::vector<MessageStep> Messages::steps(const Program& program) {
    std::vector<MessageStep> steps;
    for (const tollbar::Step step : program) steps.push_back(open(step));
    for (const MessageStep& step : leaving()) steps.push_back(step);
    return steps;
}

std::vector<MessageStep> Messages::leaving() const {
    std::vector<MessageStep> steps;
    for (tollbar_channel* channel : sends_) steps.push_back({.kind = MessageStep::Kind::leave, .channel = channel});
    return steps;
}

void Messages::start(tollbar_channel* channel) noexcept { lost_ |= p2p_.start(p2p_.state, channel) != 0; }

std::uint32_t Messages::take(const Step& step, Episode episode) noexcept {
    if (step.kind != Step::Kind::send) return met(step, episode) ? 1 : 0;
    if (!lost_) start(step.channel);
    return lost_ ? 0 : 1;
}

}  // namespace tollbar::detail::mpi
