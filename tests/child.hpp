// SPDX-License-Identifier: Apache-2.0
// Runs something in a child process and tells how it ended and what it said, for what cannot be tried in the test's
// own process: ending it, and variables that are read once.
#pragma once

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tollbar::testing {

struct Outcome {
    int status = 0;    ///< as waitpid(2) gives it
    std::string said;  ///< on stdout and stderr

    bool aborted() const { return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT; }
    bool succeeded() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

    /// How often it said that.
    int times_said(const std::string& text) const {
        int times = 0;
        for (auto at = said.find(text); at != std::string::npos; at = said.find(text, at + 1)) ++times;
        return times;
    }
};

/// Runs `action` in a child made by fork(2), which then exits with 0. No other thread may be running.
template <class Action>
Outcome in_child(Action action) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) std::abort();
    std::fflush(nullptr);  // or else the child would say again what is still in the buffers
    const pid_t child = fork();
    if (child == 0) {
        fcntl(ends[1], F_SETFL, O_APPEND);  // or else tollbar would say nothing there: this is not the stderr it knows
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGABRT, SIG_DFL);  // the test framework's handler would report a failure of the test
        action();
        std::fflush(nullptr);
        _exit(0);
    }
    close(ends[1]);
    Outcome outcome;
    std::array<char, 4096> piece{};
    for (ssize_t length = 0; (length = read(ends[0], piece.data(), piece.size())) > 0;)
        outcome.said.append(piece.data(), static_cast<std::size_t>(length));
    close(ends[0]);
    waitpid(child, &outcome.status, 0);
    return outcome;
}

/// A program of this build as a command: through the emulator where it was built for another processor.
inline std::vector<std::string> program(const std::string& file, std::vector<std::string> words = {}) {
    words.insert(words.begin(), file);
    if (const std::string emulator = TOLLBAR_EMULATOR; !emulator.empty()) words.insert(words.begin(), emulator);
    return words;
}

/// Replaces this process by that command.
[[noreturn]] inline void become(std::vector<std::string> command) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
}

/// Runs a command afresh, with these variables set as well.
inline Outcome run(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& variables = {}) {
    return in_child([&] {
        for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
        become(command);
    });
}

}  // namespace tollbar::testing
