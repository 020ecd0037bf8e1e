// SPDX-License-Identifier: Apache-2.0
// The tuning file: the line "tollbar-tuning 1", then a line a situation, each a word for its kind and KEY=VALUE pairs.
// Its grammar and its writers are here, for the library and, through the native module, for the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollbar::detail {

/// A line of the file. One of a kind that is not known here has no pairs and stays as it is.
class TuningEntry {
public:
    using Pairs = std::vector<std::pair<std::string, std::string>>;

    /// Throws std::invalid_argument that says what is wrong with the line.
    explicit TuningEntry(std::string line);
    TuningEntry(const std::string& kind, const Pairs& pairs);

    const std::string& kind() const noexcept { return kind_; }
    const Pairs& pairs() const noexcept { return pairs_; }
    const std::string& line() const noexcept { return line_; }

    /// Empty where the line says nothing of it.
    std::string operator[](std::string_view key) const;
    std::uint32_t number(std::string_view key) const;
    bool is(std::string_view key) const { return (*this)[key] == "yes"; }

    /// Key of a line: a later line with the same key replaces the earlier one. Lines are stored in its order.
    std::string situation() const;

private:
    std::string line_, kind_;
    Pairs pairs_;
};

/// The file for reading, closed where there is none. Throws std::invalid_argument for a folder or a device, which might
/// never end.
std::ifstream open_tuning(const std::string& path);

/// The lines of that kind, all of them where it is empty. Throws std::invalid_argument that names the first wrong one.
std::vector<TuningEntry> read_tuning_entries(std::istream& file, std::string_view kind = {});

/// The writer of a file. A program that synchronizes waits at most three seconds for another writer and leaves a
/// damaged file alone. The command waits a minute, keeps a damaged file beside the new one and waits until the new one
/// is on disk.
enum class TuningWriter { program, command };

struct TuningMerged {
    std::size_t entries = 0;  ///< how many the file holds now
    std::string damage;       ///< what was wrong with the file that was put aside
    std::string put_aside;    ///< under which name; empty when it was sound
};

/// Merges the entries into the file: a situation that is there is replaced, other lines stay. A reader sees the old
/// file or the new one, and no writer loses what another one wrote. Throws std::system_error where nothing can be
/// written, or the path names a folder or a device, which stays; std::invalid_argument where a program finds a damaged
/// file.
TuningMerged merge_tuning(std::string path, const std::vector<TuningEntry>& entries, TuningWriter writer);

}  // namespace tollbar::detail
