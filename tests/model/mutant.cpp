// SPDX-License-Identifier: Apache-2.0
// Compiled by tests/mutants against each mutated header: is the mutant caught? And once against the real ones.
//
//     model_original                    every situation is clean
//     mutant TITLE SITUATION FINDING    that situation is not: FINDING is "left early" or "stuck"
#include "situations.hpp"

#include <iostream>
#include <string_view>

using namespace tollbar::model;

int main(int count, char** arguments) try {
    if (count == 1) {
        bool all_clean = true;
        for (const auto& [name, situation] : situations())
            all_clean &= finds(Finding::clean, "original: " + name, situation.threads, situation.make, thorough);
        return all_clean ? 0 : 1;
    }
    if (count != 4) {
        std::cerr << "usage: " << arguments[0] << " [TITLE SITUATION 'left early'|stuck]\n";
        return 2;
    }
    const std::string_view expected = arguments[3];
    for (const Finding finding : {Finding::unpaid, Finding::stuck}) {
        if (name(finding) != expected) continue;
        const Situation& situation = situation_named(arguments[2]);
        const std::string title = std::string("mutant: ") + arguments[1] + ", " + arguments[2];
        return finds(finding, title, situation.threads, situation.make, thorough) ? 0 : 1;
    }
    std::cerr << "a mutant is expected to be 'left early' or 'stuck', not '" << expected << "'\n";
    return 2;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
