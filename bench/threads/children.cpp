// SPDX-License-Identifier: Apache-2.0
// The ranks of a measuring program as processes: forked for one job, gone after it.
#include "children.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace tollbar::bench {

namespace {

constexpr std::array endings{SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t asked_to_stop = 0;

void note(int) { asked_to_stop = 1; }

/// Kills whoever is left when it goes.
class Children {
public:
    Children() = default;
    ~Children() {
        for (const pid_t child : running_) kill(child, SIGKILL);
        for (const pid_t child : running_)
            while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
            }
    }
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    void add(pid_t child) { running_.push_back(child); }

    void wait_for_all() {
        while (!running_.empty()) {
            if (asked_to_stop != 0) throw std::runtime_error("asked to stop");
            int status = 0;
            const pid_t ended = wait(&status);
            if (ended < 0 && errno == EINTR) continue;
            if (ended < 0) throw std::system_error(errno, std::generic_category(), "wait");
            std::erase(running_, ended);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                throw std::runtime_error("process " + std::to_string(ended) + " failed");
        }
    }

private:
    std::vector<pid_t> running_;
};

}  // namespace

void stop_politely() {
    struct sigaction action {};
    action.sa_handler = note;  // without SA_RESTART: wait() comes back
    for (const int ending : endings) sigaction(ending, &action, nullptr);
}

void run_in_processes(Rank ranks, const Places& places, const Job& job) {
    const pid_t parent = getpid();
    Children children;
    for (Rank rank = 0; rank < ranks; ++rank) {
        const pid_t child = fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) std::_Exit(1);
            for (const int ending : endings) ::signal(ending, SIG_DFL);
            run_or_exit(places, job, rank);
            std::_Exit(0);
        }
        children.add(child);
    }
    children.wait_for_all();
}

}  // namespace tollbar::bench
