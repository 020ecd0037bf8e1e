// SPDX-License-Identifier: Apache-2.0
// The rows of a file of tests/golden.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace golden {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found;
    std::istringstream text(line.substr(0, line.find('\r')));
    for (std::string cell; std::getline(text, cell, ',');) found.push_back(cell);
    return found;
}

inline std::vector<Row> rows(const std::string& name) {
    std::ifstream file(std::string(TOLLBAR_TESTS_DIR) + "/golden/" + name);
    std::string line;
    std::getline(file, line);
    const std::vector<std::string> names = cells(line);
    std::vector<Row> found;
    while (std::getline(file, line)) {
        const std::vector<std::string> values = cells(line);
        Row row;
        for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = i < values.size() ? values[i] : "";
        found.push_back(row);
    }
    return found;
}

inline double number(const Row& row, const std::string& name) { return std::stod(row.at(name)); }

}  // namespace golden
