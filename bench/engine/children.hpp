// SPDX-License-Identifier: Apache-2.0
// Processes that a measuring program forks and sees to the end of.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace tollbar::bench {

/// Kills whoever is left when it goes. Children die with the process that made it, which must have no other threads.
///
///     Children children;
///     children.start([] { ... });
///     children.wait_for_all();
class Children {
public:
    /// From now on SIGINT, SIGTERM and SIGHUP end the waiting calls by an exception, so that what was made is removed.
    Children();
    ~Children();
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    /// Starts a process that does this and exits; with status 1, after a line on stderr, where it throws.
    void start(const std::function<void()>& action);

    /// Forks a process that goes on where this one is. Gives 0 in it; it has no children.
    pid_t split();

    /// Returns when all have ended. Throws std::runtime_error when one fails, or when the caller is to stop.
    void wait_for_all();

    /// Gives the exit status of a child of split(). Throws as wait_for_all() does, and where the child was killed.
    int wait_for(pid_t child);

private:
    struct Ended {
        pid_t child;
        int status;
    };
    Ended wait_for_one();

    std::vector<pid_t> running_;
};

}  // namespace tollbar::bench
