// SPDX-License-Identifier: Apache-2.0
// Names of functions and files, as people write them.
#pragma once

#include <string>

namespace tollbar::look {

/// The name as C++ has it. That of a C function may be the code of a type: `f` would be float.
std::string demangled(const char* name);

/// The same without its result, its arguments and those of its templates: "solver::step".
std::string brief(const char* name);

/// The same of a name that is demangled.
std::string brief_of_plain(std::string text);

/// Without its folder.
std::string file_name(const char* path);

}  // namespace tollbar::look
