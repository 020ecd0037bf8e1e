// SPDX-License-Identifier: Apache-2.0
// Files that are read whole.
#include "base/files.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace tollbar::detail;

namespace {

/// A file of that text, removed at the end.
struct Written {
    explicit Written(const std::string& text) {
        const File file(mkstemp(path.data()));
        std::ofstream(path) << text;
    }
    ~Written() { unlink(path.c_str()); }

    std::string path = "/tmp/tollbar-files-XXXXXX";
};

}  // namespace

TEST_CASE("a file is read whole, however many pieces it takes") {
    const std::string text = std::string(5000, 'a') + '\n' + std::string(4000, 'b');
    CHECK(contents_of(Written(text).path) == text);
    CHECK(contents_of(Written(std::string(4096, 'c')).path) == std::string(4096, 'c'));
}

TEST_CASE("a file of the kernel's is read whole, although its size is 0") {
    CHECK(lines_of("/proc/self/status").at(0).starts_with("Name:\t"));
    CHECK(contents_of("/proc/self/status").ends_with('\n'));
}

TEST_CASE("there is nothing in a file that is not there, nor in a folder") {
    CHECK(contents_of("/nonexistent").empty());
    CHECK(lines_of("/tmp").empty());
}

TEST_CASE("a last line counts whether or not it ends") {
    CHECK(lines_of(Written("one\n\nthree").path) == std::vector<std::string>{"one", "", "three"});
    CHECK(lines_of(Written("one\n\nthree\n").path) == std::vector<std::string>{"one", "", "three"});
}
