// SPDX-License-Identifier: Apache-2.0
// Arguments that the simulators share: names of choices, counts, and watches.
#pragma once

#include "ending.hpp"

#include <tollbar/models/progress.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace python {

/// The enumerator at the position of its name.
template <class Choice, std::size_t size>
Choice named(const std::string& name, const std::array<std::string_view, size>& names, const char* meaning) {
    std::string accepted;
    for (std::size_t i = 0; i < size; ++i) {
        if (names[i] == name) return static_cast<Choice>(i);
        accepted += (i ? ", " : "") + std::string(names[i]);
    }
    throw std::invalid_argument("the " + std::string(meaning) + " is one of " + accepted + ", not '" + name + "'");
}

/// Python's whole numbers may be negative or too large.
inline std::uint32_t count(std::int64_t number, const char* meaning) {
    if (number < 0 || number > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("a number of " + std::string(meaning) + " is not " + std::to_string(number));
    return static_cast<std::uint32_t>(number);
}

using Watch =
    std::optional<nanobind::typed<nanobind::callable, void(double simulated_us, std::uint64_t, std::uint64_t)>>;

/// Calls the Python function, which outlives the result. An exception there, such as that of Ctrl-C, ends the
/// simulation.
inline tollbar::Watch watch_by(const Watch& function) {
    return [&function](const tollbar::Progress& progress) {
        const LockTaken lock;
        let_handlers_run();
        if (function) call(*function, nanobind::make_tuple(progress.simulated_us, progress.passed, progress.total));
    };
}

}  // namespace python
