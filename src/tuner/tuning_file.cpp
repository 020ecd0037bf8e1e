// SPDX-License-Identifier: Apache-2.0
// Writers hold a lock while they read, merge and replace the file.
#include "tuning_file.hpp"

#include "base/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tollbar::detail {

namespace {

constexpr const char* first_line = "tollbar-tuning 1";

enum class Value { text, number, switched, policy };

/// A key that a line of a known kind must have.
struct Key {
    const char* name;
    Value value;
    bool of_situation;
};

constexpr std::array<Key, 5> threads_keys{{{"ranks", Value::number, true},
                                           {"cpus", Value::number, true},
                                           {"pinned", Value::switched, true},
                                           {"plan", Value::text, false},
                                           {"wait", Value::policy, false}}};
constexpr std::array<Key, 7> mpi_keys{{{"ranks", Value::number, true},
                                       {"nodes", Value::number, true},
                                       {"per_node", Value::number, true},
                                       {"crowded", Value::switched, true},
                                       {"mpi", Value::text, true},
                                       {"objective", Value::text, true},
                                       {"plan", Value::text, false}}};

/// None for a kind that is not known here.
std::span<const Key> keys_of(std::string_view kind) {
    if (kind == "threads") return threads_keys;
    if (kind == "mpi") return mpi_keys;
    return {};
}

/// 0 for what is no number of at least 1.
std::uint32_t to_number(const std::string& text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

void check_one_of(const std::string& value, const std::string& one, const std::string& other) {
    if (value != one && value != other)
        throw std::invalid_argument("'" + value + "' is neither " + one + " nor " + other);
}

void check(Value kind, const std::string& value) {
    if (kind == Value::number && to_number(value) == 0)
        throw std::invalid_argument("'" + value + "' is not a number of at least 1");
    if (kind == Value::switched) check_one_of(value, "no", "yes");
    if (kind == Value::policy) check_one_of(value, "auto", "park");
}

/// "needs ranks, cpus, pinned, plan and wait".
std::string needs(std::span<const Key> keys) {
    std::string text = "needs ";
    for (std::size_t i = 0; i < keys.size(); ++i)
        text += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + std::string(keys[i].name);
    return text;
}

std::string line_of(std::string line, const TuningEntry::Pairs& pairs) {
    for (const auto& [key, value] : pairs) line += " " + key + "=" + value;
    return line;
}

/// The lock of a process that reads, changes and replaces the file; a file of its own, because the other one is
/// replaced. Throws std::system_error, also when another writer does not let go: it may be stopped for ever.
File lock_of(const std::string& path, std::chrono::seconds patience) {
    using namespace std::chrono_literals;
    File lock(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!lock) throw_errno("its lock");
    const Deadline give_up = deadline_after(patience);
    while (flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || give_up.passed())) throw_errno("its lock");
        std::this_thread::sleep_for(1ms);
    }
    return lock;
}

/// Puts a new file in place of the old one in one step. A program does not sync it: a choice that a crash loses is
/// found again.
void replace(const std::string& path, const std::string& text, TuningWriter writer) {
    std::string name = path + ".XXXXXX";
    const File file(mkstemp(name.data()));
    if (!file) throw_errno(path);
    fchmod(file.number(), 0644);  // mkstemp makes it private, but other users' programs may read it
    errno = ENOSPC;               // a write that is cut short says nothing
    if (write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        (writer == TuningWriter::program || fsync(file.number()) == 0) && std::rename(name.c_str(), path.c_str()) == 0)
        return;
    const int error = errno;
    unlink(name.c_str());
    throw_errno(path, error);
}

/// 0, or an errno value for a folder or a device. Neither is a damaged file of ours, to be put aside.
int no_file(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return 0;
    return std::filesystem::is_directory(status) ? EISDIR : ENOTSUP;
}

/// Renames the file to one that is not there: an earlier damaged one is a user's data too.
std::string put_aside(const std::string& path) {
    std::string aside = path + ".bad";
    for (int number = 2; std::filesystem::exists(aside); ++number) aside = path + ".bad" + std::to_string(number);
    std::filesystem::rename(path, aside);
    return aside;
}

}  // namespace

TuningEntry::TuningEntry(std::string line) : line_(std::move(line)) {
    std::istringstream words(line_);
    words >> kind_;
    const auto keys = keys_of(kind_);
    if (keys.empty()) return;
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) throw std::invalid_argument("'" + word + "' is not KEY=VALUE");
        const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
        const auto known = std::ranges::find(keys, key, &Key::name);
        if (known != keys.end()) check(known->value, value);
        std::erase_if(pairs_, [&](const auto& pair) { return pair.first == key; });
        pairs_.emplace_back(key, value);
    }
    for (const Key& key : keys)
        if ((*this)[key.name].empty()) throw std::invalid_argument(needs(keys));
}

TuningEntry::TuningEntry(const std::string& kind, const Pairs& pairs) : TuningEntry(line_of(kind, pairs)) {
    if (pairs_ != pairs) throw std::invalid_argument("'" + line_ + "' has a pair that holds a blank");
}

std::string TuningEntry::operator[](std::string_view key) const {
    const auto found = std::ranges::find(pairs_, key, [](const auto& pair) { return std::string_view(pair.first); });
    return found == pairs_.end() ? "" : found->second;
}

std::uint32_t TuningEntry::number(std::string_view key) const { return to_number((*this)[key]); }

std::string TuningEntry::situation() const {
    constexpr std::size_t digits = 10;
    const auto keys = keys_of(kind_);
    if (keys.empty()) return "~" + line_;  // behind all others
    std::string text = kind_;
    for (const Key& key : keys) {
        if (!key.of_situation) continue;
        std::string value = (*this)[key.name];
        if (key.value == Value::number) value = std::to_string(to_number(value));
        if (key.value == Value::number) value.insert(0, digits - value.size(), '0');  // as numbers are ordered
        text += ' ' + value;
    }
    return text;
}

std::ifstream open_tuning(const std::string& path) {
    if (no_file(path) != 0) throw std::invalid_argument("is no file");
    return std::ifstream(path);
}

std::vector<TuningEntry> read_tuning_entries(std::istream& file, std::string_view kind) {
    std::string text;
    if (!std::getline(file, text) || text != first_line)
        throw std::invalid_argument("line 1: expected '" + std::string(first_line) + "'");
    std::vector<TuningEntry> entries;
    for (std::size_t number = 2; std::getline(file, text); ++number) {
        std::string of;
        std::istringstream(text) >> of;
        if (of.empty() || (!kind.empty() && of != kind)) continue;
        try {
            entries.emplace_back(text);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument("line " + std::to_string(number) + ": " + error.what());
        }
    }
    return entries;
}

TuningMerged merge_tuning(std::string path, const std::vector<TuningEntry>& entries, TuningWriter writer) {
    using namespace std::chrono_literals;
    std::filesystem::create_directories(std::filesystem::absolute(path).parent_path());
    path = std::filesystem::weakly_canonical(path);  // a link keeps pointing at the file that is replaced
    if (const int error = no_file(path)) throw_errno(path, error);
    const File lock = lock_of(path, writer == TuningWriter::program ? 3s : 60s);
    TuningMerged merged;
    std::map<std::string, std::string> lines;
    try {
        if (std::ifstream file = open_tuning(path); file)
            for (const TuningEntry& entry : read_tuning_entries(file)) lines[entry.situation()] = entry.line();
    } catch (const std::invalid_argument& error) {
        if (writer == TuningWriter::program) throw;
        merged.damage = error.what();
        merged.put_aside = put_aside(path);
    }
    for (const TuningEntry& entry : entries) lines[entry.situation()] = entry.line();
    std::string text = std::string(first_line) + '\n';
    for (const auto& [situation, line] : lines) text += line + '\n';
    replace(path, text, writer);
    merged.entries = lines.size();
    return merged;
}

}  // namespace tollbar::detail
