// SPDX-License-Identifier: Apache-2.0
// A folder for a test's files, gone with the object.
#pragma once

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tollbar::testing {

class TemporaryFolder {
public:
    TemporaryFolder() { REQUIRE(mkdtemp(path_.data()) != nullptr); }
    ~TemporaryFolder() {
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all);  // a test may have taken them away
        std::filesystem::remove_all(path_);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string path(const std::string& name) const { return path_ + "/" + name; }

    /// Makes the file and the folders on the way to it; returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        const std::string file = path(name);
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }

    /// What is in the file; "" where there is none.
    std::string read(const std::string& name) const {
        std::ostringstream all;
        all << std::ifstream(path(name), std::ios::binary).rdbuf();
        return all.str();
    }

private:
    std::string path_ = (std::filesystem::temp_directory_path() / "tollbar-test-XXXXXX").string();
};

}  // namespace tollbar::testing
