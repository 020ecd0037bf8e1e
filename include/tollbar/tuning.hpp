// SPDX-License-Identifier: Apache-2.0
// What `tollbar tune` found out about this machine, and what to take where it found out nothing.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace tollbar {

/// Where a barrier is to be used.
struct Situation {
    Rank ranks;
    std::uint32_t cpus;  ///< usable by them together
    bool pinned;         ///< each participant is confined to one CPU

    friend bool operator==(const Situation&, const Situation&) = default;
};

/// What to use there: a catalogue spelling, "turnstile" or "combination[:PROCESSORS]", and "auto" or "park".
struct Choice {
    std::string plan;
    std::string wait;

    friend bool operator==(const Choice&, const Choice&) = default;
};

/// One line of the tuning file.
struct Tuned {
    Situation situation;
    Choice choice;
};

/// Reads a tuning file: the line "tollbar-tuning 1", then a line a situation:
/// `threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto ...`. Other kinds than threads and other keys
/// are passed over. Throws std::invalid_argument that names the first line that is wrong.
std::vector<Tuned> read_tuning(std::istream& file);

/// TOLLBAR_TUNING, else tollbar/tuning in XDG_CACHE_HOME or ~/.cache; empty when there is no home.
std::string tuning_file();

/// What was stored for exactly these ranks, CPUs and pinning in tuning_file(), which is read once a process;
/// a damaged file is reported once on stderr and counts as empty.
std::optional<Choice> tuned_choice(const Situation& situation);

/// What to take where nothing was measured: up to eight ranks, and whenever crowded, one word that only grows;
/// above that dissemination, the exchange plan with the least price at any size.
Choice default_choice(const Situation& situation);

}  // namespace tollbar
