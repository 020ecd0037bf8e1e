// SPDX-License-Identifier: Apache-2.0
// What is stored for communicators is found again, beside what others store, and never at their cost.

#include "child.hpp"
#include "refusal.hpp"
#include "temporary.hpp"

#include "tuner/tuning.hpp"
#include "tuner/tuning_file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <sys/wait.h>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

const std::string header = "tollbar-tuning 1\n";
const std::string threads_line = "threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto colour=green\n";
const std::string good =
    "mpi ranks=8 nodes=1 per_node=8 crowded=yes mpi=openmpi-4.1.4 objective=latency plan=turnstile";

MpiSituation situation(Rank ranks = 8) {
    return {
        .ranks = ranks, .nodes = 1, .per_node = ranks, .crowded = true, .mpi = "openmpi-4.1.4", .objective = "latency"};
}

std::vector<MpiTuned> read(const std::string& text) {
    std::istringstream file(text);
    return read_mpi_tuning(file);
}

std::string objection(const std::string& text) {
    return refusal([&] { (void)read(text); });
}

/// A folder with a tuning file in another one.
class Folder : public testing::TemporaryFolder {
public:
    std::string file() const { return path(name); }
    void write(const std::string& text) const { TemporaryFolder::write(name, text); }
    std::string text() const { return read(name); }

private:
    static constexpr const char* name = "deep/tuning";
};

/// Does that in a child which looks at the folder's file, because the file is read once a process.
template <class Action>
testing::Outcome with_file(const Folder& folder, Action action) {
    return testing::in_child([&] {
        setenv("TOLLBAR_TUNING", folder.file().c_str(), 1);
        action();
    });
}

void say(const std::optional<std::string>& plan) { std::printf("<%s>\n", plan ? plan->c_str() : "nothing"); }

}  // namespace

TEST_CASE("every line for communicators becomes an entry, others and other keys are passed over") {
    const auto all = read(header + threads_line + "\n" + good + " by=join median_us=6.1\n");
    REQUIRE(all.size() == 1);
    CHECK(all[0].situation == situation());
    CHECK(all[0].plan == "turnstile");
}

TEST_CASE("a line for communicators that is wrong is named with what is accepted") {
    CHECK(objection("") == "line 1: expected 'tollbar-tuning 1'");
    CHECK(objection(header + "mpi ranks=8 nodes=1\n") ==
          "line 2: needs ranks, nodes, per_node, crowded, mpi, objective and plan");
    CHECK(objection(header + good + " nonsense\n") == "line 2: 'nonsense' is not KEY=VALUE");
    CHECK(objection(header + "mpi ranks=0") == "line 2: '0' is not a number of at least 1");
    CHECK(objection(header + "\nmpi crowded=maybe") == "line 3: 'maybe' is neither no nor yes");
}

TEST_CASE("a plan is found for exactly the communicator it was stored for") {
    const Folder folder;
    folder.write(header + threads_line + good + "\n");
    const auto outcome = with_file(folder, [] {
        say(tuned_mpi_plan(situation()));
        say(tuned_mpi_plan(situation(4)));
        auto another = situation();
        another.mpi = "mpich-4.0.2";
        say(tuned_mpi_plan(another));
        another = situation();
        another.objective = "skew";
        say(tuned_mpi_plan(another));
    });
    CHECK(outcome.said == "<turnstile>\n<nothing>\n<nothing>\n<nothing>\n");
}

TEST_CASE("what one process stores, itself and the next one find") {
    const Folder folder;
    const auto store = with_file(folder, [] {
        say(tuned_mpi_plan(situation()));
        store_mpi_plan({situation(), "turnstile"}, "by=join");
        store_mpi_plan({situation(), "mcs:4,2"}, "by=join");
        say(tuned_mpi_plan(situation()));
    });
    CHECK(store.said == "<nothing>\n<mcs:4,2>\n");
    CHECK(with_file(folder, [] { say(tuned_mpi_plan(situation())); }).said == "<mcs:4,2>\n");
    CHECK(folder.text() == header +
                               "mpi ranks=8 nodes=1 per_node=8 crowded=yes mpi=openmpi-4.1.4 objective=latency "
                               "plan=mcs:4,2 by=join\n");
}

TEST_CASE("the lines of others stay as they are") {
    const Folder folder;
    const std::string others = threads_line + "card  whatever 7\n";
    folder.write(header + others + good + " by=tune\n");
    CHECK(with_file(folder, [] { store_mpi_plan({situation(4), "bst"}, ""); }).said.empty());
    const std::string added =
        "mpi ranks=4 nodes=1 per_node=4 crowded=yes mpi=openmpi-4.1.4 objective=latency plan=bst\n";
    CHECK(folder.text() == header + added + good + " by=tune\n" + others);  // in order of situations
}

TEST_CASE("a name with blanks is stored as one word and found again") {
    const Folder folder;
    auto odd = situation();
    odd.mpi = "";
    with_file(folder, [&] { store_mpi_plan({odd, "bst"}, ""); });
    odd.mpi = "My MPI";
    with_file(folder, [&] { store_mpi_plan({odd, "mcs"}, ""); });
    CHECK(with_file(folder, [&] { say(tuned_mpi_plan(odd)); }).said == "<mcs>\n");
    CHECK(read(folder.text()).size() == 2);
}

TEST_CASE("eight processes that store at once lose nothing") {
    const Folder folder;
    std::vector<pid_t> children;
    for (Rank first = 1; first <= 8; ++first) {
        children.push_back(fork());
        if (children.back() != 0) continue;
        // A program gives up after three seconds without a turn, which eight on few CPUs may take.
        for (Rank i = 0; i < 10; ++i) {
            std::string line = good;
            line.replace(line.find("ranks=8"), 7, "ranks=" + std::to_string(first + 8 * i));
            merge_tuning(folder.file(), {TuningEntry(line)}, TuningWriter::command);
        }
        _exit(0);
    }
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    CHECK(read(folder.text()).size() == 80);
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/deep")) files += file.exists();
    CHECK(files == 2);  // the tuning file and its lock
}

TEST_CASE("a damaged file is said once, left alone, and what was found is remembered") {
    const Folder folder;
    for (const std::string& damage : {std::string("nonsense\n"), header + "mpi ranks=8\n"}) {
        folder.write(damage);
        const auto outcome = with_file(folder, [] {
            say(tuned_mpi_plan(situation()));
            store_mpi_plan({situation(), "bst"}, "");
            say(tuned_mpi_plan(situation()));
        });
        CHECK(outcome.times_said("<nothing>") == 1);
        CHECK(outcome.times_said("<bst>") == 1);
        CHECK(outcome.times_said("tollbar: " + folder.file() + ": line ") == 1);
        CHECK(outcome.times_said("\n") == 3);
        CHECK(folder.text() == damage);
    }
}

TEST_CASE("where nothing can be written that is said once, and what was found is remembered") {
    const Folder folder;
    folder.write(header);
    std::filesystem::permissions(folder.path() + "/deep", std::filesystem::perms(0555));
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    const auto outcome = with_file(folder, [] {
        if (geteuid() == 0 && seteuid(65534) != 0) std::printf("cannot become somebody else\n");
        store_mpi_plan({situation(), "bst"}, "");
        store_mpi_plan({situation(4), "bst"}, "");
        say(tuned_mpi_plan(situation()));
    });
    std::filesystem::permissions(folder.path() + "/deep", std::filesystem::perms(0755));
    CHECK(outcome.said ==
          "tollbar: " + folder.file() + ": Permission denied; what was measured is not stored there\n<bst>\n");
    CHECK(folder.text() == header);
}

TEST_CASE("a writer that never lets go of the file stops nobody") {
    const Folder folder;
    folder.write(header);
    const int lock = open((folder.file() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(flock(lock, LOCK_EX) == 0);
    const auto outcome = with_file(folder, [] { store_mpi_plan({situation(), "bst"}, ""); });
    close(lock);
    CHECK(outcome.times_said("what was measured is not stored there") == 1);
    CHECK(folder.text() == header);
}

TEST_CASE("a link to the file stays a link") {
    const Folder folder;
    folder.write(header);
    std::filesystem::create_symlink(folder.file(), folder.path() + "/link");
    testing::in_child([&] {
        setenv("TOLLBAR_TUNING", (folder.path() + "/link").c_str(), 1);
        store_mpi_plan({situation(), "bst"}, "");
    });
    CHECK(std::filesystem::is_symlink(folder.path() + "/link"));
    CHECK(read(folder.text()).size() == 1);
}
