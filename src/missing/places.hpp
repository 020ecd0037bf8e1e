// SPDX-License-Identifier: Apache-2.0
// Places in code, as users read them: the one way for all that tollbar prints.
#pragma once

#include "base/process.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tollbar::detail {

/// For how long a thread that is waited for may ask for names.
constexpr std::chrono::milliseconds places_limit{1000};

inline std::string in_hex(std::uint64_t number) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
    return text.data();
}

/// A place in the file that it was loaded from, and what tells that file from a later one of its name.
struct CodePlace {
    std::string file{};         ///< absolute where /proc can be read; empty: no file is behind that code
    std::uint64_t address = 0;  ///< as the linker has numbered it, for addr2line(1); without a file as it is in memory
    std::uint64_t inode = 0;    ///< 0: not known
    std::string build_id{};     ///< in hexadecimal digits; empty: not known

    /// "FILE+0xADDRESS", "0xADDRESS".
    std::string raw() const { return file.empty() ? in_hex(address) : file + "+" + in_hex(address); }
};

/// The places of addresses in processes: the regions of each are read once, and again for an address in none of them.
class CodePlaces {
public:
    CodePlace of(pid_t process, std::uint64_t address);

private:
    CodePlace own(std::uint64_t address);
    /// nullptr where no file is behind it.
    const Region* region_of(pid_t process, std::uint64_t address);

    std::map<pid_t, std::vector<Region>> regions_;
};

/// The texts of places in one report: "function (file:line)" of those whose names are known, "function
/// (FILE+0xADDRESS)" where only the symbol is, else "FILE+0xADDRESS". Names are found out by tollbar-look beside this
/// process, which loads no library for it, once a place and process.
///
///     tollbar_report("%s", with_names(places_limit, [&](Places& places) { return "at " + places.of_call(caller);
///     }).c_str());
class Places {
public:
    std::string of(pid_t process, std::uint64_t address);

    /// The same of the call that returns to there: the line is that of the call itself.
    std::string of_call(pid_t process, std::uint64_t returns_to) { return of(process, returns_to - 1); }
    std::string of_call(const void* returns_to) { return of_call(0, reinterpret_cast<std::uintptr_t>(returns_to)); }

    /// Whether a place was in these texts of which nobody has been asked yet.
    bool has_new() const noexcept { return !new_.empty(); }

    /// Asks for the names of what was new in these texts, for so long at most and as long as `goes_on()`, which is
    /// called all the time; whether there are any now.
    bool learn(
        std::chrono::milliseconds limit, const std::function<bool()>& goes_on = [] { return true; });

private:
    struct New {
        std::string key, asked, raw;
    };
    CodePlaces places_;
    std::vector<New> new_;
};

/// `make(Places&)`, made again where names have been found out meanwhile.
template <class Make>
auto with_names(std::chrono::milliseconds limit, Make&& make) {
    Places places;
    auto made = make(places);
    if (places.learn(limit)) made = make(places);
    return made;
}

/// The text for a report with that place alone.
inline std::string place_of_call(const void* returns_to) {
    return with_names(places_limit, [&](Places& places) { return places.of_call(returns_to); });
}

}  // namespace tollbar::detail
