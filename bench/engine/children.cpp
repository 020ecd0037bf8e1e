// SPDX-License-Identifier: Apache-2.0
// Processes that a measuring program forks and sees to the end of.
#include "children.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tollbar::bench {

namespace {

constexpr std::array endings{SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t asked_to_stop = 0;

void note(int) { asked_to_stop = 1; }

}  // namespace

Children::Children() {
    struct sigaction action {};
    action.sa_handler = note;  // without SA_RESTART: wait() comes back
    for (const int ending : endings) sigaction(ending, &action, nullptr);
}

Children::~Children() {
    for (const pid_t child : running_) kill(child, SIGKILL);
    for (const pid_t child : running_)
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
}

pid_t Children::split() {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child != 0) {
        running_.push_back(child);
        return child;
    }
    running_.clear();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(1);
    for (const int ending : endings) ::signal(ending, SIG_DFL);
    return 0;
}

void Children::start(const std::function<void()>& action) {
    if (split() != 0) return;
    try {
        action();
        std::_Exit(0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "process %d: %s\n", getpid(), error.what());
        std::_Exit(1);
    }
}

Children::Ended Children::wait_for_one() {
    for (;;) {
        if (asked_to_stop != 0) throw std::runtime_error("asked to stop");
        int status = 0;
        const pid_t ended = ::wait(&status);
        if (ended < 0 && errno == EINTR) continue;
        if (ended < 0) throw std::system_error(errno, std::generic_category(), "wait");
        std::erase(running_, ended);
        return {ended, status};
    }
}

void Children::wait_for_all() {
    while (!running_.empty()) {
        const auto [child, status] = wait_for_one();
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            throw std::runtime_error("process " + std::to_string(child) + " failed");
    }
}

int Children::wait_for(pid_t child) {
    for (;;) {
        const auto [ended, status] = wait_for_one();
        if (ended == child && WIFEXITED(status)) return WEXITSTATUS(status);
        throw std::runtime_error("process " + std::to_string(ended) + " has ended");
    }
}

}  // namespace tollbar::bench
