// SPDX-License-Identifier: Apache-2.0
// Messages, each made by one call: a chain of + makes and destroys a string for each of its pieces wherever it stands,
// and took a tenth of the library.
#pragma once

#include <tollbar/plan.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tollbar::detail {

/// A part of a message: text, or a number that is written in decimal. Refers to its text.
class Piece {
public:
    Piece(const char* text) : Piece(std::string_view(text)) {}
    Piece(const std::string& text) : text_(text.data()), value_(text.size()) {}
    Piece(std::string_view text) : text_(text.data() == nullptr ? "" : text.data()), value_(text.size()) {}
    template <std::unsigned_integral Number>
    Piece(Number number) : text_(nullptr), value_(number) {}

    void append_to(std::string& whole) const;

private:
    const char* text_;     ///< null: a number
    std::uint64_t value_;  ///< the number, or the size of the text
};

/// The pieces one after the other. Throws std::bad_alloc.
std::string worded(std::initializer_list<Piece> pieces);

/// "rank 3" or "role a". Throws std::bad_alloc.
std::string named(Rank member);

}  // namespace tollbar::detail
