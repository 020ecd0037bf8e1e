// SPDX-License-Identifier: Apache-2.0
// Names of places in files, for reports of programs that cannot load libdw themselves.
#pragma once

#include <iosfwd>

namespace tollbar::look {

/// Answers each line of `questions` by one: the function, a tab and "file:line" of a place; empty what is not known. A
/// question has, with tabs between: the address as the linker has numbered it, the build id of its file in hexadecimal
/// digits, its inode, and paths, of which the first one with that build id is it; without a build id the first with
/// that inode. No name is given out of any other file.
void name_places(std::istream& questions, std::ostream& answers);

}  // namespace tollbar::look
