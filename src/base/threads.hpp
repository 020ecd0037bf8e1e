// SPDX-License-Identifier: Apache-2.0
// Threads of ours beside the program's own, for which its signals are.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace tollbar::detail {

/// While it exists, no signal interrupts this thread. A thread that is started meanwhile gets none either, ever.
class SignalsHeldBack {
public:
    SignalsHeldBack() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeldBack(const SignalsHeldBack&) = delete;
    SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

private:
    sigset_t before_;
};

/// Runs `work(stop_token)` or `work()` in a thread that gets no signals. Throws std::system_error.
///
///     auto thread = quiet_thread([](const std::stop_token& stop) { while (nap(stop, 1s)) look(); });
template <class Work>
std::jthread quiet_thread(Work&& work) {
    const SignalsHeldBack held;
    return std::jthread(std::forward<Work>(work));
}

/// Sleeps for that time, or until the thread is asked to stop; whether it goes on. Allocates nothing, as
/// std::condition_variable_any does.
inline bool nap(const std::stop_token& stop, std::chrono::duration<double> time) {
    std::mutex mutex;
    std::condition_variable asked;
    const std::stop_callback wake(stop, [&] {
        const std::lock_guard lock(mutex);
        asked.notify_all();
    });
    std::unique_lock lock(mutex);
    asked.wait_for(lock, time, [&] { return stop.stop_requested(); });
    return !stop.stop_requested();
}

}  // namespace tollbar::detail
