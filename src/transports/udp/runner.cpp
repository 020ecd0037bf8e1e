// SPDX-License-Identifier: Apache-2.0
// Looking and giving way for about as long as a wake-up takes, then sleeping until a frame comes or it is time to ask
// again.
#include "runner.hpp"

#include <algorithm>
#include <utility>

#include <csignal>

namespace tollbar {

namespace {

/// How many are asked at a time whether they have entered: enough to name the missing, too few for a storm.
constexpr std::size_t most_asked = 64;

/// A roll is called when one time-out has grown by so much: not for a frame that was lost, only for a rank that is
/// late.
constexpr int worth_a_roll_call = 4;

/// Frames taken in before the clock is looked at, whoever sends how many.
constexpr int most_taken = 64;

/// Longer than a frame, so that what is too long is seen to be.
constexpr std::size_t room = 2 * sizeof(toll_frame);

}  // namespace

UdpRunner::UdpRunner(const UdpIdentity& identity, std::vector<toll_step> steps, Episode before, wait_policy policy,
                     const UdpPace& pace, Datagrams& network)
    : protocol_(identity, std::move(steps), before, network), network_(network), policy_(policy), pace_(pace) {
    if (identity.ranks == 1) return;
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t usual;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &usual);
    answering_ = std::jthread([this](const std::stop_token& stop) { answer_now_and_then(stop); });
    pthread_sigmask(SIG_SETMASK, &usual, nullptr);
}

void UdpRunner::arrive() noexcept {
    const std::lock_guard inside(inside_);
    if (!protocol_.finished()) wait({Clock::time_point::max()});
    protocol_.start();
    protocol_.advance();
    be_patient(Clock::now());
}

bool UdpRunner::test() noexcept {
    const std::lock_guard inside(inside_);
    if (protocol_.advance() || drain()) return true;
    ask_if_due(Clock::now());
    return false;
}

bool UdpRunner::finish(Deadline deadline) noexcept {
    const std::lock_guard inside(inside_);
    return wait(deadline);
}

Episode UdpRunner::episode() const noexcept {
    const std::lock_guard inside(inside_);
    return protocol_.episode();
}

std::vector<Rank> UdpRunner::missing() const {
    const std::lock_guard inside(inside_);
    return protocol_.missing();
}

UdpCounts UdpRunner::counts() const noexcept {
    const std::lock_guard inside(inside_);
    return protocol_.counts();
}

void UdpRunner::be_patient(Clock::time_point now) noexcept {
    asking_ = {.patience = pace_.again, .due = now + pace_.again, .heard = protocol_.counts().heard};
}

void UdpRunner::ask_if_due(Clock::time_point now) noexcept {
    if (protocol_.counts().heard != asking_.heard) be_patient(now);  // a step further: the next frame may be lost too
    if (now < asking_.due || protocol_.finished()) return;
    protocol_.pull();
    if (asking_.patience >= worth_a_roll_call * pace_.again) protocol_.ask(most_asked);
    asking_.patience = std::min(2 * asking_.patience, pace_.rarest);
    asking_.due = now + asking_.patience;
}

bool UdpRunner::wait(Deadline deadline) noexcept {
    if (protocol_.advance() || drain()) return true;
    if (policy_ != wait_policy::park && look(deadline)) return true;
    while (!deadline.passed()) {
        network_.sleep({std::min(asking_.due, deadline.at)});
        if (drain()) return true;
        ask_if_due(Clock::now());
    }
    return drain();
}

bool UdpRunner::take_one() noexcept {
    std::array<std::byte, room> buffer;
    const auto received = network_.receive(buffer);
    if (!received) return false;
    protocol_.hear(std::span(buffer).first(std::min(received->size, room)), received->from);
    return true;
}

bool UdpRunner::drain() noexcept {
    for (int taken = 0; taken < most_taken && take_one(); ++taken)
        if (protocol_.advance()) return true;
    return false;
}

bool UdpRunner::look(Deadline deadline) noexcept {
    for (int turn = 0; policy_ != wait_policy::automatic || turn < pace_.yields; ++turn) {
        if (policy_ != wait_policy::spin) NativeSync::yield();
        if (drain()) return true;
        const auto now = Clock::now();
        if (now >= deadline.at) return false;
        ask_if_due(now);
    }
    return false;
}

void UdpRunner::answer_now_and_then(const std::stop_token& stop) noexcept {
    std::mutex unshared;
    std::unique_lock lock(unshared);
    std::condition_variable_any never;
    for (auto nap = pace_.again; !stop.stop_requested();) {
        never.wait_for(lock, stop, nap, [] { return false; });
        nap = std::min(2 * nap, pace_.rarest);
        const std::unique_lock inside(inside_, std::try_to_lock);
        if (!inside) continue;  // whoever is in a call answers
        const auto asked = protocol_.questions();
        protocol_.advance();
        for (int taken = 0; taken < most_taken && take_one(); ++taken) protocol_.advance();
        ask_if_due(Clock::now());
        if (protocol_.questions() != asked) nap = pace_.again;
    }
}

void UdpRunner::linger() noexcept {
    if (answering_.joinable()) {
        answering_.request_stop();
        answering_.join();
    }
    if (!protocol_.finished()) return;
    auto patience = pace_.again;
    auto asked = protocol_.questions();
    for (auto now = Clock::now(), quiet_since = now, say_at = now; protocol_.needed(); now = Clock::now()) {
        if (std::exchange(asked, protocol_.questions()) != protocol_.questions()) quiet_since = now;
        if (now >= quiet_since + pace_.linger) break;
        if (now >= say_at) {
            protocol_.leave();
            say_at = now + patience;
            patience = std::min(2 * patience, pace_.rarest);
        }
        network_.sleep({say_at});
        while (take_one()) {
        }
    }
    protocol_.leave();  // again, for those who wait for nothing else and did not hear it
}

}  // namespace tollbar
