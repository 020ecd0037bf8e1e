// SPDX-License-Identifier: Apache-2.0
// The choices that `tollbar tune` found for this machine, and the choices by default.
#pragma once

#include "waiting/clusters.hpp"

#include <tollbar/plan.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::detail {

/// The circumstances of a barrier.
struct Situation {
    Rank ranks;
    std::uint32_t cpus;  ///< usable by them together
    bool pinned;         ///< each participant is confined to one CPU

    friend bool operator==(const Situation&, const Situation&) = default;
};

/// The plan to use there: a catalogue spelling, "turnstile" or "combination[:PROCESSORS]", and "auto" or "park".
struct Choice {
    std::string plan;
    std::string wait;
    Rank groups = 0;      ///< plan groups that are mapped to cache clusters; a rank has a slot in its own cluster's
    Rank neighbours = 0;  ///< slots of a group, which follow each other; 0: groups take turns

    friend bool operator==(const Choice&, const Choice&) = default;
};

/// One line of the tuning file that says what threads use there.
struct Tuned {
    Situation situation;
    Choice choice;
};

/// Reads a tuning file: the line "tollbar-tuning 1", then a line a situation:
/// `threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto ...`. Other kinds than threads and other keys
/// are passed over, and so is a line that would have threads meet once a processor that are not pinned to one, as
/// `tollbar tune` stored some. Throws std::invalid_argument that names the first line that is wrong.
std::vector<Tuned> read_tuning(std::istream& file);

/// The choice stored for exactly these ranks, CPUs and pinning in the tuning file, which is read once a process;
/// a damaged file is reported once on stderr and counts as empty.
std::optional<Choice> tuned_choice(const Situation& situation);

/// The circumstances of a barrier of an MPI's communicator.
struct MpiSituation {
    Rank ranks;
    Rank nodes;
    Rank per_node;          ///< ranks on the node that has most of them
    bool crowded;           ///< some node has more ranks than CPUs
    std::string mpi;        ///< such as "openmpi-4.1.4"
    std::string objective;  ///< "latency", "skew" or "wait"

    friend bool operator==(const MpiSituation&, const MpiSituation&) = default;
};

/// One line of the tuning file that says what to use there: a catalogue spelling, "turnstile" or "turnstile/OUTER".
struct MpiTuned {
    MpiSituation situation;
    std::string plan;
};

/// The lines `mpi ranks=8 nodes=1 per_node=8 crowded=yes mpi=openmpi-4.1.4 objective=latency plan=turnstile ...` of a
/// tuning file; other kinds and other keys are passed over. Throws as read_tuning does.
std::vector<MpiTuned> read_mpi_tuning(std::istream& file);

/// The plan stored for exactly that situation in the tuning file, which is read once a process, or by this process
/// since. A damaged file is reported once on stderr and counts as empty. May be called by several threads at once.
std::optional<std::string> tuned_mpi_plan(const MpiSituation& situation);

/// Stores a line for the situation in the tuning file, in place of the one that is there; all other lines stay.
/// `remarks` are further pairs, such as "by=join median_us=6.1". Several processes may do so at once. A line that
/// cannot be stored is reported once a process on stderr, and remembered by tuned_mpi_plan() all the same.
void store_mpi_plan(const MpiTuned& tuned, const std::string& remarks) noexcept;

/// The choice where nothing was measured, between ranks that fill these clusters in order: docs/design/selection.md.
/// Whenever crowded, and up to eight ranks that may wander, one word that only grows: a combination of pinned threads
/// is faster alone, and slower where their CPUs have neighbours.
Choice default_choice(const Situation& situation, const Clusters& clusters);

/// The same on this machine.
Choice default_choice(const Situation& situation);

}  // namespace tollbar::detail
