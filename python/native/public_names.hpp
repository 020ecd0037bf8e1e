// SPDX-License-Identifier: Apache-2.0
// The list of names that `import *` takes from a module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string_view>

namespace python {

/// The names that users find in the module so far.
inline nanobind::list public_names(const nanobind::module_& m) {
    nanobind::list names;
    for (nanobind::handle name : nanobind::borrow<nanobind::dict>(m.attr("__dict__")).keys())
        if (nanobind::cast<std::string_view>(name).front() != '_') names.append(name);
    return names;
}

}  // namespace python
