// SPDX-License-Identifier: Apache-2.0
// The library's tuning file, so that the command reads and writes it as the library does.
#include "ending.hpp"
#include "parts.hpp"

#include "tuner/tuning.hpp"
#include "tuner/tuning_file.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// A file may hold any bytes.
nb::str to_str(const std::string& text) {
    return nb::steal<nb::str>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

TuningEntry made(const std::string& kind, const nb::dict& pairs) {
    TuningEntry::Pairs words;
    for (const auto& [key, value] : pairs) words.emplace_back(nb::cast<std::string>(key), nb::cast<std::string>(value));
    return {kind, words};
}

nb::dict pairs_of(const TuningEntry& entry) {
    nb::dict pairs;
    for (const auto& [key, value] : entry.pairs()) pairs[to_str(key)] = to_str(value);
    return pairs;
}

std::vector<TuningEntry> entries_of(const std::string& path) {
    std::ifstream file = open_tuning(path);
    return file ? read_tuning_entries(file) : std::vector<TuningEntry>{};
}

std::tuple<std::size_t, std::string, std::string> merge(const std::string& path,
                                                        const std::vector<TuningEntry>& entries) {
    try {
        const python::LockGivenUp others_go_on;
        const TuningMerged merged = merge_tuning(path, entries, TuningWriter::command);
        return {merged.entries, merged.damage, merged.put_aside};
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
        throw nb::python_error();
    }
}

}  // namespace

void bind_tuning(nb::module_& m) {
    nb::class_<TuningEntry>(m, "TuningEntry",
                            "A line of the tuning file: one situation and what to use in it. Pairs that the library\n"
                            "does not know are kept; a line of a kind that it does not know has none.")
        .def(
            "__init__",
            [](TuningEntry* self, const std::string& kind, const nb::dict& pairs) {
                new (self) TuningEntry(made(kind, pairs));
            },
            "kind"_a, "pairs"_a, nb::sig("def __init__(self, kind: str, pairs: dict[str, str]) -> None"))
        .def_static(
            "parse", [](const std::string& line) { return TuningEntry(line); }, "line"_a,
            "Raises ValueError that says what is wrong with the line.")
        .def_prop_ro("kind", &TuningEntry::kind, "threads or mpi.")
        .def_prop_ro("pairs", &pairs_of, nb::sig("def pairs(self) -> dict[str, str]"), "What the line says.")
        .def_prop_ro(
            "line", [](const TuningEntry& entry) { return to_str(entry.line()); }, "As it is written.")
        .def_prop_ro(
            "situation", [](const TuningEntry& entry) { return to_str(entry.situation()); },
            "The same for two lines of which the later one replaces the earlier one.")
        .def(
            "__eq__", [](const TuningEntry& one, const TuningEntry& other) { return one.line() == other.line(); },
            nb::is_operator(), nb::sig("def __eq__(self, other: object) -> bool"))
        .def("__hash__", [](const TuningEntry& entry) { return std::hash<std::string>()(entry.line()); })
        .def("__repr__", [](const TuningEntry& entry) { return to_str("<TuningEntry: " + entry.line() + ">"); });
    m.def("read_tuning", &entries_of, "path"_a,
          "The lines of a tuning file; none where there is no file. Raises ValueError that names the first wrong one.");
    m.def(
        "default_choice",
        [](Rank ranks, std::uint32_t cpus, bool pinned) {
            const Choice choice = default_choice({.ranks = ranks, .cpus = cpus, .pinned = pinned});
            return std::tuple(choice.plan, choice.wait);
        },
        "ranks"_a, "cpus"_a, "pinned"_a, "The plan and the policy that a group takes where nothing is tuned.");
    m.def("merge_tuning", &merge, "path"_a, "entries"_a,
          "Merges the entries into the file: a situation that is there is replaced, other lines stay. Gives how many\n"
          "lines there are now, and what was wrong with a damaged file and where it was put aside, '' for a sound\n"
          "one. Raises OSError where nothing can be written.");
}
