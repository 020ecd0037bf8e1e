// SPDX-License-Identifier: Apache-2.0
// Reads how far the ranks of a job are that `tollbar run --timeout` watches, and concludes who is missing.
#include "ending.hpp"
#include "parts.hpp"

#include "missing/calls.h"
#include "missing/reporting.hpp"
#include "missing/meeting.hpp"
#include "missing/rows.hpp"
#include "doors/pmpi/watch/watch.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar::detail::watch;

namespace {

/// Names of communicators are the program's own, and cut off anywhere.
nb::str shown(const std::string& text) {
    return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

std::vector<Sentence> conclude_of(const std::vector<std::tuple<Rows*, double, bool>>& hosts, bool tells_time) {
    Ranks all;
    for (const auto& [rows, age_s, is_news] : hosts) {
        rows->host.age_s = age_s;
        rows->host.is_news = is_news;
        for (const Rank& rank : rows->ranks) all.push_back(&rank);
    }
    const auto order = [](const Rank* rank) { return std::tuple(rank->row.rank, rank->host->age_s); };
    const auto are_one = [](const Rank* one, const Rank* other) { return one->row.rank == other->row.rank; };
    std::ranges::stable_sort(all, {}, order);
    all.erase(std::unique(all.begin(), all.end(), are_one), all.end());  // keeps what is known newest
    return conclude_of_hosts(all, tells_time);
}

/// The names of calls of those kinds.
std::vector<std::string> calls_that(int (*are)(tollbar_kind)) {
    std::vector<std::string> names;
    for (const tollbar_call& call : tollbar_calls)
        if (are(call.kind) != 0) names.emplace_back(call.name);
    return names;
}

}  // namespace

void bind_watch(nb::module_& m) {
    m.def(
        "listed", [](const std::vector<std::uint32_t>& ranks) { return tollbar::detail::listed(ranks); }, "ranks"_a,
        "Ranks, which ascend, in words: \"3\", \"3 and 5\"; of more than eight, three and more that follow each other\n"
        "are together: \"0-16 and 18-40\".");
    nb::class_<Sentence>(m, "Missing", "Who is missing where somebody waits, in a sentence.")
        .def(
            "__init__",
            [](Sentence* self, const std::string& text, const std::string& facts) {
                auto* const sentence = new (self) Sentence();
                if (read_sentence(text, facts, *sentence)) return;
                sentence->~Sentence();
                throw nb::value_error("no facts of a sentence");
            },
            "text"_a, "facts"_a, "Raises ValueError where these are no facts that stand behind a sentence.")
        .def_prop_ro(
            "text", [](const Sentence& line) { return shown(line.text); }, "The sentence.")
        .def_prop_ro(
            "about", [](const Sentence& line) { return shown(line.about); },
            "Its head: the barrier, or the communicator and the call.")
        .def_ro("wait", &Sentence::wait, "The same in all sentences about one wait, and in no other.")
        .def_ro("named", &Sentence::named,
                "The ranks or threads of which it tells something, besides the one that waits.")
        .def_ro("arrived", &Sentence::arrived, "The threads that are there, where the missing are not known by name.")
        .def_ro("lacking", &Sentence::lacking, "How many are missing then.")
        .def_ro("waited_s", &Sentence::waited_s, "For how many seconds that one has waited.");
    nb::class_<Rows>(m, "Rows", "The ranks of a host, as its watcher tells them.")
        .def(
            "__init__",
            [](Rows* self, const std::string& text) {
                auto* const rows = new (self) Rows();
                if (read_rows(text, *rows)) return;
                rows->~Rows();
                throw nb::value_error("no rows of a host");
            },
            "text"_a, "Raises ValueError where the text is none.")
        .def_prop_ro(
            "ranks", [](const Rows& rows) { return rows.ranks.size(); }, "How many.")
        .def_prop_ro(
            "is_whole_job", [](const Rows& rows) { return is_whole_job(all_of(rows.ranks)); },
            "Whether no rank of the job is elsewhere.");
    m.attr("ROWS_VERSION") = rows_version;
    m.attr("MOST_BYTES_OF_ROWS") = most_bytes_of_rows;
    m.def("conclude", &conclude_of, "hosts"_a, "tells_time"_a = true,
          "Who is missing, from the rows of all hosts, their age in seconds, and whether they are news: a sentence\n"
          "about each call in which a rank has waited for the time-out of its host, where one of these is news.\n"
          "`tells_time`: for how long.");
    m.def("waits_in", &waits_in, "path"_a, "apart_s"_a, nb::call_guard<python::LockGivenUp>(),
          "Who is missing for ranks that have waited between two looks, `apart_s` seconds apart, at the file in which\n"
          "they keep account of their calls: `path` is /proc/PID/fd/N of one of them. Raises RuntimeError where it is\n"
          "no such file of this user's.");
    m.def(
        "rows_in",
        [](const std::string& path, double apart_s, const nb::callable& meanwhile) {
            return rows_in(path, apart_s, [&] { meanwhile(); });
        },
        "path"_a, "apart_s"_a, "meanwhile"_a,
        "The text of the Rows at such a file, whose waits are those that have lasted through `meanwhile()`, and for\n"
        "`apart_s` seconds at least; empty where the ranks have moved. Raises RuntimeError as waits_in() does, and "
        "what\n"
        "`meanwhile` raises.");
    m.def(
        "collective_calls", [] { return calls_that(tollbar_is_collective); },
        "The calls of an MPI to which all ranks of a communicator come that the watch knows in it.");
    m.def(
        "calls_made_once", [] { return calls_that(tollbar_is_made_once); },
        "The calls of an MPI that a program makes once.");
    m.def("is_seats_file", &is_seats_file, "path"_a,
          "Whether a file of accounts of calls had that path; its name is taken away when MPI_Init is over.");
    m.def("remove_left_overs", &remove_left_overs,
          "Removes the files of accounts of this user's jobs that were killed in MPI_Init, and of which none is left.");
}
