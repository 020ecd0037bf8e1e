// SPDX-License-Identifier: Apache-2.0
// What the tuning file says of communicators: reads it, answers for situations, adds to it beside other writers.
#include <tollbar/detail/tuning.hpp>

#include "tuning_line.hpp"

#include "runtime/environment.hpp"
#include "runtime/files.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tollbar {

namespace {

MpiTuned parse_mpi_tuned(TuningLine line) {
    const MpiTuned tuned{.situation = {.ranks = line.number("ranks"),
                                       .nodes = line.number("nodes"),
                                       .per_node = line.number("per_node"),
                                       .crowded = line.yes("crowded"),
                                       .mpi = line.text("mpi"),
                                       .objective = line.text("objective")},
                         .plan = line.text("plan")};
    line.need("ranks, nodes, per_node, crowded, mpi, objective and plan");
    return tuned;
}

/// A value of the file holds no blanks.
std::string without_blanks(std::string text) {
    for (char& letter : text)
        if (letter <= ' ') letter = '_';
    return text.empty() ? "unknown" : text;
}

MpiSituation as_stored(MpiSituation situation) {
    situation.mpi = without_blanks(situation.mpi);
    situation.objective = without_blanks(situation.objective);
    return situation;
}

std::string written(const MpiTuned& tuned, const std::string& remarks) {
    const MpiSituation& where = tuned.situation;
    return "mpi ranks=" + std::to_string(where.ranks) + " nodes=" + std::to_string(where.nodes) +
           " per_node=" + std::to_string(where.per_node) + " crowded=" + (where.crowded ? "yes" : "no") +
           " mpi=" + where.mpi + " objective=" + where.objective + " plan=" + tuned.plan +
           (remarks.empty() ? "" : " " + remarks);
}

/// Held by whoever reads, changes and replaces the file; a file of its own, because the other one is replaced. Throws
/// std::system_error, also when another writer does not let go: it may be stopped for ever.
File lock_of(const std::string& path) {
    using namespace std::chrono_literals;
    File lock(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!lock) throw_errno("its lock");
    const Deadline give_up = deadline_after(3s);
    while (flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || give_up.passed())) throw_errno("its lock");
        std::this_thread::sleep_for(1ms);
    }
    return lock;
}

/// Puts a new file in place of the old one in one step: a reader sees either. It is not synced: a choice that a crash
/// loses is found again.
void replace(const std::string& path, const std::string& text) {
    std::string name = path + ".XXXXXX";
    const File file(mkstemp(name.data()));
    if (!file) throw_errno(path);
    fchmod(file.number(), 0644);  // mkstemp makes it private, but other users' programs may read it
    errno = ENOSPC;               // a write that is cut short says nothing
    if (write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        std::rename(name.c_str(), path.c_str()) == 0)
        return;
    const int error = errno;
    unlink(name.c_str());
    throw_errno(path, error);
}

/// The file's text with that line in it. Throws std::invalid_argument where the file makes no sense.
std::string merged(const std::string& path, const MpiTuned& tuned, const std::string& remarks) {
    std::string text = std::string(first_tuning_line) + '\n';
    std::ifstream file(path);
    if (file)
        for_each_tuning_line(file, [&](std::size_t number, const std::string& line) {
            const std::string kind = kind_of_tuning_line(line);
            const bool replaced = kind == "mpi" && parse_mpi_tuned({number, line}).situation == tuned.situation;
            if (!kind.empty() && !replaced) text += line + '\n';
        });
    return text + written(tuned, remarks) + '\n';
}

/// What this process knows of the file.
class Memory {
public:
    Memory() {
        const std::string path = environment::tuning_file();
        std::ifstream file(path);
        if (!file) return;
        try {
            all_ = read_mpi_tuning(file);
        } catch (const std::invalid_argument& error) {
            complain(path, error.what(), "not using it (`tollbar tune` writes a new one)");
        }
    }

    std::optional<std::string> plan(const MpiSituation& situation) {
        const std::lock_guard guard(mutex_);
        const auto found = std::ranges::find(all_, situation, &MpiTuned::situation);
        return found == all_.end() ? std::nullopt : std::optional(found->plan);
    }

    void remember(const MpiTuned& tuned) {
        const std::lock_guard guard(mutex_);
        std::erase_if(all_, [&](const MpiTuned& one) { return one.situation == tuned.situation; });
        all_.push_back(tuned);
    }

    /// One line, the first time.
    void complain(const std::string& path, const char* what, const char* consequence) {
        const std::lock_guard guard(mutex_);
        if (!std::exchange(said_, true)) tollbar_say("%s: %s; %s", path.c_str(), what, consequence);
    }

private:
    std::mutex mutex_;
    std::vector<MpiTuned> all_;
    bool said_ = false;
};

Memory& memory() {
    static Memory one;
    return one;
}

}  // namespace

std::vector<MpiTuned> read_mpi_tuning(std::istream& file) {
    std::vector<MpiTuned> all;
    for_each_tuning_line(file, [&](std::size_t number, const std::string& text) {
        if (kind_of_tuning_line(text) == "mpi") all.push_back(parse_mpi_tuned({number, text}));
    });
    return all;
}

std::optional<std::string> tuned_mpi_plan(const MpiSituation& situation) { return memory().plan(as_stored(situation)); }

void store_mpi_plan(const MpiTuned& tuned, const std::string& remarks) noexcept {
    try {
        const MpiTuned line{as_stored(tuned.situation), without_blanks(tuned.plan)};
        memory().remember(line);
        std::string path = environment::tuning_file();
        if (path.empty()) return;  // no home: nowhere to store
        try {
            std::filesystem::create_directories(std::filesystem::absolute(path).parent_path());
            path = std::filesystem::weakly_canonical(path);  // a link keeps pointing at the file that is replaced
            const File lock = lock_of(path);
            replace(path, merged(path, line, remarks));
        } catch (const std::system_error& error) {
            const std::string what = error.code().message();
            memory().complain(path, what.c_str(), "what was measured is not stored there");
        } catch (const std::invalid_argument& error) {
            memory().complain(path, error.what(), "not adding to it (`tollbar tune` writes a new one)");
        }
    } catch (const std::exception&) {  // no memory even for that: a choice is measured again next time
    }
}

}  // namespace tollbar
