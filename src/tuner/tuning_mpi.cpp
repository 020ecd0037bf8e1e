// SPDX-License-Identifier: Apache-2.0
// The tuning file's lines of communicators: read once, asked by situation, added to beside other writers.
#include "tuning.hpp"

#include "tuning_file.hpp"

#include "base/environment.hpp"
#include "base/say.h"
#include "plan/wording.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <system_error>

namespace tollbar::detail {

namespace {

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

TuningEntry entry_of(const MpiTuned& tuned, const std::string& remarks) {
    const MpiSituation& where = tuned.situation;
    return TuningEntry(worded({"mpi ranks=", where.ranks, " nodes=", where.nodes, " per_node=", where.per_node,
                               " crowded=", where.crowded ? "yes" : "no", " mpi=", where.mpi, " objective=",
                               where.objective, " plan=", tuned.plan, remarks.empty() ? "" : " ", remarks}));
}

/// The file as this process knows it.
class Memory {
public:
    Memory() {
        const std::string path = environment::tuning_file();
        try {
            if (std::ifstream file = open_tuning(path); file) all_ = read_mpi_tuning(file);
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
    static void complain(const std::string& path, const char* what, const char* consequence) {
        tollbar_say_once("tuning of communicators", "%s: %s; %s", path.c_str(), what, consequence);
    }

private:
    std::mutex mutex_;
    std::vector<MpiTuned> all_;
};

Memory& memory() {
    static auto* const one = new Memory;  // never destroyed: threads may ask while the process ends
    return *one;
}

}  // namespace

std::vector<MpiTuned> read_mpi_tuning(std::istream& file) {
    std::vector<MpiTuned> all;
    for (const TuningEntry& line : read_tuning_entries(file, "mpi"))
        all.push_back({{.ranks = line.number("ranks"),
                        .nodes = line.number("nodes"),
                        .per_node = line.number("per_node"),
                        .crowded = line.is("crowded"),
                        .mpi = line["mpi"],
                        .objective = line["objective"]},
                       line["plan"]});
    return all;
}

std::optional<std::string> tuned_mpi_plan(const MpiSituation& situation) { return memory().plan(as_stored(situation)); }

void store_mpi_plan(const MpiTuned& tuned, const std::string& remarks) noexcept {
    try {
        const MpiTuned line{as_stored(tuned.situation), without_blanks(tuned.plan)};
        memory().remember(line);
        const std::string path = environment::tuning_file();
        if (path.empty()) return;  // no home: nowhere to store
        try {
            merge_tuning(path, {entry_of(line, remarks)}, TuningWriter::program);
        } catch (const std::system_error& error) {
            const std::string what = error.code().message();
            Memory::complain(path, what.c_str(), "what was measured is not stored there");
        } catch (const std::invalid_argument& error) {
            Memory::complain(path, error.what(), "not adding to it (`tollbar tune` writes a new one)");
        }
    } catch (const std::exception&) {  // no memory even for that: a choice is measured again next time
    }
}

}  // namespace tollbar::detail
