// SPDX-License-Identifier: Apache-2.0
// A rank inside a call answers; while it is in none, its second thread does.
#include "answering.hpp"

#include "base/not_cancelled.hpp"
#include "base/threads.hpp"

#include <algorithm>
#include <utility>

namespace tollbar::detail {

AnsweringRunner::AnsweringRunner(const UdpIdentity& identity, std::vector<toll_step> steps, Episode before,
                                 wait_policy policy, const UdpTiming& timing, std::unique_ptr<Datagrams> network,
                                 WhenRefused when_refused)
    : timing_(timing), network_(std::move(network)), steps_(std::move(steps)),
      runner_(steps_.data(), static_cast<std::uint32_t>(steps_.size()), before,
              UdpTransport(Protocol(identity, steps_, before, *network_), policy, timing, *network_, when_refused)) {
    if (identity.ranks == 1) return;
    runner_.transport().protocol().introduce();
    answering_ = quiet_thread([this](const std::stop_token& stop) { answer_now_and_then(stop); });
}

bool AnsweringRunner::arrive() noexcept {
    const NotCancelled not_cancelled;
    const std::lock_guard inside(inside_);
    if (!runner_.finish(Never{})) return false;
    runner_.start();
    entered_ = true;
    runner_.advance();
    return true;
}

bool AnsweringRunner::test() noexcept {
    const NotCancelled not_cancelled;
    const std::lock_guard inside(inside_);
    if (runner_.advance() || runner_.transport().take_in([this] { return runner_.advance(); })) return true;
    runner_.transport().progress();
    return false;
}

bool AnsweringRunner::finish(Deadline deadline) noexcept {
    const NotCancelled not_cancelled;
    const std::lock_guard inside(inside_);
    return runner_.finish(deadline);
}

Episode AnsweringRunner::episode() const noexcept {
    const std::lock_guard inside(inside_);
    return runner_.episode();
}

std::vector<Rank> AnsweringRunner::missing() const {
    const std::lock_guard inside(inside_);
    return runner_.finished() ? std::vector<Rank>() : runner_.transport().protocol().missing();
}

UdpCounts AnsweringRunner::counts() const noexcept {
    const std::lock_guard inside(inside_);
    return runner_.transport().protocol().counts();
}

bool AnsweringRunner::gone() const noexcept {
    const std::lock_guard inside(inside_);
    return runner_.transport().gone();
}

UdpRefusal AnsweringRunner::refusal() const noexcept {
    const std::lock_guard inside(inside_);
    return runner_.transport().protocol().refusal();
}

void AnsweringRunner::answer_now_and_then(const std::stop_token& stop) noexcept {
    for (auto pause = timing_.again; nap(stop, pause);) {
        pause = std::min(2 * pause, timing_.rarest);
        const std::unique_lock inside(inside_, std::try_to_lock);
        if (!inside) continue;  // the thread inside the call answers
        UdpTransport& transport = runner_.transport();
        const auto asked = transport.protocol().questions();
        transport.take_in([this] { return runner_.advance(), false; });  // all that is there: others ask after the end
        if (!runner_.finished() && !transport.gone()) transport.progress();
        if (transport.protocol().questions() != asked) pause = timing_.again;
    }
}

AnsweringRunner::~AnsweringRunner() {
    const NotCancelled not_cancelled;
    if (answering_.joinable()) {
        answering_.request_stop();
        answering_.join();
    }
    if (entered_ && runner_.finished()) linger();
}

void AnsweringRunner::linger() noexcept {
    using Clock = std::chrono::steady_clock;
    Protocol& protocol = runner_.transport().protocol();
    auto patience = timing_.again;
    auto asked = protocol.questions();
    for (auto now = Clock::now(), quiet_since = now, say_at = now; protocol.needed(); now = Clock::now()) {
        if (std::exchange(asked, protocol.questions()) != protocol.questions()) quiet_since = now;
        if (now >= quiet_since + timing_.linger) break;
        if (now >= say_at) {
            protocol.leave();
            say_at = now + patience;
            patience = std::min(2 * patience, timing_.rarest);
        }
        network_->sleep({say_at});
        runner_.transport().take_in([] { return false; });
    }
    protocol.leave();  // again, for ranks that wait for nothing else and have not received it
}

}  // namespace tollbar::detail
