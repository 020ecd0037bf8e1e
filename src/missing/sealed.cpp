// SPDX-License-Identifier: Apache-2.0
// The secret of a run is 32 hexadecimal digits; a letter behind it says what is wanted besides reports.
#include "sealed.hpp"

#include "sentence.hpp"

#include "base/environment.hpp"
#include "base/say.h"
#include "wire/siphash.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace tollbar::detail::missing {

namespace {

struct Secret {
    bool there = false, accounts = false;
    toll_key key{};

    Secret() {
        const std::string text = environment::secret_of_run();
        if (text.size() < 32) return;
        const auto read = [&](std::size_t at, toll_u64& half) {
            const char* const end = text.data() + at + 16;
            return std::from_chars(text.data() + at, end, half, 16).ptr == end;
        };
        there = read(0, key.high) && read(16, key.low);
        accounts = there && text.ends_with('a') && text.size() == 33;
    }
};

const Secret& secret() noexcept {
    static const Secret only;
    return only;
}

}  // namespace

bool are_gathered() noexcept { return secret().there && tollbar_stderr_travels() != 0; }

bool is_accounted() noexcept { return secret().accounts; }

std::string sealed(const std::string& text, const std::string& facts) {
    if (!secret().there) return "";
    std::string line = text + " [~" + facts;
    std::ranges::replace(line, '\n', ' ');  // as tollbar_say() does
    const auto seal = static_cast<unsigned long long>(toll_siphash(secret().key, line.data(), line.size()));
    std::array<char, 24> end{};
    std::snprintf(end.data(), end.size(), " %016llx]", seal);
    return line + end.data();
}

void report(const Sentence& sentence) {
    if (secret().there) tollbar_await_reader();
    tollbar_report(sentence.text.c_str(), sealed(sentence.text, facts_of(sentence)).c_str());
}

void tell(const std::string& text, const std::string& facts) {
    tollbar_await_reader();
    tollbar_say("%s", sealed(text, facts).c_str());
}

}  // namespace tollbar::detail::missing
