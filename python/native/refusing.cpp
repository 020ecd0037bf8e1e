// SPDX-License-Identifier: Apache-2.0
// The TypeError of a call whose arguments fit no signature says so in one line. nanobind's own text has a line for each
// signature, and names that users do not know; it is caught where nanobind hands it to Python (CMakeLists.txt: --wrap).
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.
extern "C" void __real_PyErr_SetString(PyObject* type, const char* text);
extern "C" void __wrap_PyErr_SetString(PyObject* type, const char* text);

namespace {

constexpr std::string_view refuses =
    "(): incompatible function arguments. The following argument types are supported:\n";
constexpr std::string_view given_are = "\nInvoked with types: ";

std::string without(std::string text, std::string_view part) {
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
    return text;
}

std::string_view without_first(std::string_view list) {
    const std::size_t comma = list.find(", ");
    return comma == std::string_view::npos ? "" : list.substr(comma + 2);
}

bool is_of_object(std::string_view parameters) {
    return parameters == "self" || parameters.starts_with("self, ") || parameters.starts_with("cls: ");
}

/// Empty for any other text.
std::string in_one_line(std::string_view text) {
    const std::size_t behind_name = text.find(refuses);
    const std::size_t behind_signatures = text.rfind(given_are);
    if (behind_name == std::string_view::npos || behind_signatures == std::string_view::npos) return "";
    std::string_view name = text.substr(0, behind_name);
    std::string_view given = text.substr(behind_signatures + given_are.size());
    std::string_view signatures = text.substr(behind_name + refuses.size(),
                                              behind_signatures - behind_name - refuses.size());
    if (name == "__init__") name = given.substr(0, given.find(", "));
    std::string takes;
    bool of_object = false;
    while (!signatures.empty()) {
        const std::string_view line = signatures.substr(0, signatures.find('\n'));
        signatures.remove_prefix(std::min(line.size() + 1, signatures.size()));
        const std::size_t begin = line.find('('), end = line.rfind(") -> ");
        if (begin == std::string_view::npos || end == std::string_view::npos) return "";
        if (name == "__new__") name = line.substr(end + 5);
        std::string_view parameters = line.substr(begin + 1, end - begin - 1);
        of_object = is_of_object(parameters);
        if (of_object) parameters = without_first(parameters);
        takes += (takes.empty() ? "(" : " or (") + std::string(parameters) + ")";
    }
    if (of_object) given = without_first(given);
    std::string line = std::string(name) + "() takes " + takes + ", not (" + std::string(given) + ")";
    for (const std::string_view part :
         {"tollbar._native.", "tollbar_lab._native.", "collections.abc.", "typing.", "kwargs = { ", " }"})
        line = without(std::move(line), part);
    return line;
}

}  // namespace

extern "C" void __wrap_PyErr_SetString(PyObject* type, const char* text) {
    std::string line;
    try {
        if (type == PyExc_TypeError) line = in_one_line(text);
    } catch (const std::exception&) {  // no memory: nanobind's text is better than none
        line.clear();
    }
    __real_PyErr_SetString(type, line.empty() ? text : line.c_str());
}
// NOLINTEND(bugprone-reserved-identifier)
