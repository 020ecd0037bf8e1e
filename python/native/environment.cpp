// SPDX-License-Identifier: Apache-2.0
// The library's reader of the environment, so that the command reads variables as the library does.
#include "environment.hpp"

#include "base/environment.hpp"

#include <tollbar/algorithms.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace tollbar;
using namespace tollbar::detail;

namespace {

/// Why nobody can run it; "" when somebody can. On nodes and ranks so many that all parameters fit.
std::string fault_of_plan(const std::string& spelling) {
    constexpr Rank nodes = 16, per_node = 16;
    Groups groups(nodes);
    for (Rank rank = 0; rank < nodes * per_node; ++rank) groups[rank / per_node].push_back(rank);
    try {
        make_plan(spelling, groups);
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

using Row = std::tuple<std::string, std::string, std::string>;

std::vector<Row> settings() {
    std::vector<Row> rows;
    for (auto& [name, value, complaint] : environment::settings()) {
        const std::string fault = name == "TOLLBAR_PLAN" ? fault_of_plan(value) : "";
        if (!fault.empty()) complaint = environment::refusal_of_plan(name.c_str(), value, fault);
        rows.emplace_back(name, value, complaint);
    }
    return rows;
}

using Variable = std::tuple<const char*, const char*, const char*, const char*, const char*>;

std::vector<Variable> variables() {
    std::vector<Variable> rows;
    for (const auto& one : environment::variables())
        rows.emplace_back(one.name, one.accepted, one.fallback, one.meaning, one.readers);
    return rows;
}

}  // namespace

void bind_environment(nb::module_& m) {
    m.def(
        "variables", &variables,
        "(name, accepted, default, meaning, readers) of each variable that users set, for all doors and the command.");
    m.def("settings", &settings,
          "(name, value, complaint) of this process's variables whose names begin with TOLLBAR_, by name; the "
          "complaint\nis the line that refuses the value, empty when it is accepted.");
    m.def("cache_folder", &environment::cache_folder, "tollbar's folder in the user's cache; '' without a home.");
    m.def("tuning_file", &environment::tuning_file, "The tuning file; '' without a home.");
    m.def("nicd_socket", &environment::nicd_socket, "Where the daemon of the network card listens.");
}
