// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>

using namespace tollbar::detail;

TEST_CASE("a quiet thread holds every signal back, and the one that starts it none") {
    bool is_held = false;
    quiet_thread([&] {
        sigset_t held;
        pthread_sigmask(SIG_BLOCK, nullptr, &held);
        is_held = sigismember(&held, SIGTERM) == 1 && sigismember(&held, SIGALRM) == 1;
    }).join();
    CHECK(is_held);
    sigset_t own;
    pthread_sigmask(SIG_BLOCK, nullptr, &own);
    CHECK(sigismember(&own, SIGTERM) == 0);
}

TEST_CASE("a nap ends early where the thread is asked to stop") {
    bool went_on = true;
    std::jthread thread([&](const std::stop_token& stop) { went_on = nap(stop, std::chrono::hours(1)); });
    thread.request_stop();
    thread.join();
    CHECK_FALSE(went_on);
}

TEST_CASE("a nap that nobody ends takes its time") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(nap(std::stop_token(), std::chrono::milliseconds(2)));
    CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(2));
}
