// SPDX-License-Identifier: Apache-2.0
// How the pieces of a message become one string.
#include "wording.hpp"

namespace tollbar::detail {

void Piece::append_to(std::string& whole) const {
    if (text_ != nullptr)
        whole.append(text_, value_);
    else
        whole += std::to_string(value_);
}

std::string worded(std::initializer_list<Piece> pieces) {
    std::string whole;
    for (const Piece& piece : pieces) piece.append_to(whole);
    return whole;
}

std::string named(Rank member) { return worded({is_role(member) ? "role " : "rank ", member_text(member)}); }

}  // namespace tollbar::detail
