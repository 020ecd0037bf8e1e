// SPDX-License-Identifier: Apache-2.0
// What a refused call says, for tests of its words.
#pragma once

#include <stdexcept>
#include <string>

/// The message of the std::invalid_argument that `call` throws; "accepted" when it throws nothing.
template <class Call>
std::string refusal(Call&& call) {
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}
