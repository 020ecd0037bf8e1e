// SPDX-License-Identifier: Apache-2.0
// What the tuning file says of communicators: reads it, answers for situations, adds to it beside other writers.
#include <tollbar/detail/tuning.hpp>

#include "tuning_line.hpp"

#include "runtime/environment.hpp"
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

namespace tollbar {

namespace {

const char* yes_or_no(bool yes) { return yes ? "yes" : "no"; }

MpiTuned parse_mpi_tuned(TuningLine& line) {
    MpiTuned tuned{};
    MpiSituation& where = tuned.situation;
    bool ranks = false, nodes = false, per_node = false, crowded = false;
    for (std::string key, value; line.next(key, value);) {
        if (key == "ranks") ranks = line.number(value, where.ranks);
        if (key == "nodes") nodes = line.number(value, where.nodes);
        if (key == "per_node") per_node = line.number(value, where.per_node);
        if (key == "crowded") crowded = line.one_of(value, "no", "yes"), where.crowded = value == "yes";
        if (key == "mpi") where.mpi = value;
        if (key == "objective") where.objective = value;
        if (key == "plan") tuned.plan = value;
    }
    if (!(ranks && nodes && per_node && crowded) || where.mpi.empty() || where.objective.empty() || tuned.plan.empty())
        line.refuse("needs ranks, nodes, per_node, crowded, mpi, objective and plan");
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
           " per_node=" + std::to_string(where.per_node) + " crowded=" + yes_or_no(where.crowded) +
           " mpi=" + where.mpi + " objective=" + where.objective + " plan=" + tuned.plan +
           (remarks.empty() ? "" : " " + remarks);
}

/// Held by whoever reads, changes and replaces the file; a file of its own, because the other one is replaced.
class Lock {
public:
    /// Throws std::system_error, also when another writer does not let go: it may be stopped for ever.
    explicit Lock(const std::string& path)
        : descriptor_(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        using namespace std::chrono_literals;
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
        const auto give_up = std::chrono::steady_clock::now() + 3s;
        while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            const int error = errno;
            if (error != EINTR && (error != EWOULDBLOCK || std::chrono::steady_clock::now() > give_up)) {
                close(descriptor_);
                throw std::system_error(error, std::generic_category(), "its lock");
            }
            std::this_thread::sleep_for(1ms);
        }
    }
    ~Lock() { close(descriptor_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    int descriptor_;
};

/// Puts a new file in place of the old one in one step: a reader sees either. It is not synced: a choice that a crash
/// loses is found again.
void replace(const std::string& path, const std::string& text) {
    std::string name = path + ".XXXXXX";
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0) throw std::system_error(errno, std::generic_category());
    fchmod(descriptor, 0644);  // mkstemp makes it private, but other users' programs may read it
    const bool whole = write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = whole ? 0 : errno;
    close(descriptor);
    if (!whole || std::rename(name.c_str(), path.c_str()) != 0) {
        const int why = whole ? errno : error;
        unlink(name.c_str());
        throw std::system_error(why == 0 ? ENOSPC : why, std::generic_category());
    }
}

/// The file's text with that line in it. Throws std::invalid_argument where the file makes no sense.
std::string merged(const std::string& path, const MpiTuned& tuned, const std::string& remarks) {
    std::string text = std::string(first_tuning_line) + '\n';
    std::ifstream file(path);
    if (file) {
        read_mpi_tuning(file);
        file.clear();
        file.seekg(0);
        std::string line;
        std::getline(file, line);
        for (std::size_t number = 2; std::getline(file, line); ++number) {
            TuningLine words(number, line);
            if (words.kind().empty()) continue;
            if (words.kind() == "mpi" && parse_mpi_tuned(words).situation == tuned.situation) continue;
            text += line + '\n';
        }
    }
    return text + written(tuned, remarks) + '\n';
}

/// What this process knows of the file.
class Memory {
public:
    std::optional<std::string> plan(const MpiSituation& situation) {
        const std::lock_guard guard(mutex_);
        read_once();
        const auto found = std::ranges::find(all_, situation, &MpiTuned::situation);
        return found == all_.end() ? std::nullopt : std::optional(found->plan);
    }

    void remember(const MpiTuned& tuned) {
        const std::lock_guard guard(mutex_);
        read_once();
        std::erase_if(all_, [&](const MpiTuned& one) { return one.situation == tuned.situation; });
        all_.push_back(tuned);
    }

    /// One line, the first time.
    void complain(const std::string& path, const char* what, const char* consequence) {
        const std::lock_guard guard(mutex_);
        say_once(path, what, consequence);
    }

private:
    void read_once() {
        if (read_) return;
        read_ = true;
        const std::string path = environment::tuning_file();
        std::ifstream file(path);
        if (!file) return;
        try {
            all_ = read_mpi_tuning(file);
        } catch (const std::invalid_argument& error) {
            say_once(path, error.what(), "not using it (`tollbar tune` writes a new one)");
        }
    }

    void say_once(const std::string& path, const char* what, const char* consequence) {
        if (!said_) tollbar_say("%s: %s; %s", path.c_str(), what, consequence);
        said_ = true;
    }

    std::mutex mutex_;
    std::vector<MpiTuned> all_;
    bool read_ = false;
    bool said_ = false;
};

Memory& memory() {
    static Memory one;
    return one;
}

}  // namespace

std::vector<MpiTuned> read_mpi_tuning(std::istream& file) {
    std::vector<MpiTuned> all;
    for_each_tuning_line(file, "mpi", [&](TuningLine& line) { all.push_back(parse_mpi_tuned(line)); });
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
            const Lock lock(path);
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
