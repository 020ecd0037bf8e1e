// SPDX-License-Identifier: Apache-2.0
// The parts that the doors for C share: wait policies, keys, and lists of missing members.
#pragma once

#include "error.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/tollbar.h>
#include <tollbar/detail/wait_policy.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::c_door {

static_assert(TOLLBAR_WAIT_AUTO == static_cast<int>(wait_policy::automatic));
static_assert(TOLLBAR_WAIT_SPIN == static_cast<int>(wait_policy::spin));
static_assert(TOLLBAR_WAIT_YIELD == static_cast<int>(wait_policy::yield));
static_assert(TOLLBAR_WAIT_PARK == static_cast<int>(wait_policy::park));

/// Throws std::invalid_argument for a number that is no policy.
inline wait_policy policy_of(const tollbar_wait& wait) {
    std::uint32_t number;  // a caller in C may have stored any number, which is no value of the type here
    static_assert(sizeof number == sizeof wait);
    std::memcpy(&number, &wait, sizeof number);
    if (number > TOLLBAR_WAIT_PARK)
        throw std::invalid_argument("wait is one of TOLLBAR_WAIT_AUTO, _SPIN, _YIELD, _PARK, not " +
                                    std::to_string(static_cast<std::int32_t>(number)));
    return static_cast<wait_policy>(number);
}

/// The line of a timed wait when no rank is missing.
inline constexpr const char* only_signals_missing =
    "time ran out; all ranks have arrived, but a signal has not been passed on yet";

/// The caller's options, or the defaults.
template <class Options>
Options given(const Options* options) {
    return options == nullptr ? Options{} : *options;
}

/// Throws std::invalid_argument where the options hold one of a later version.
template <class Options>
void demand_known(const Options& options) {
    const auto& words = options.reserved;
    if (std::any_of(std::begin(words), std::end(words), [](std::uint64_t word) { return word != 0; }))
        throw std::invalid_argument("reserved is not all zero: this version of tollbar knows no such option");
}

inline std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

/// The two halves of a key, each little-endian: low, high.
inline std::array<std::uint64_t, 2> halves_of(const std::uint8_t (&key)[16]) noexcept {
    std::array<std::uint64_t, 2> halves{};
    for (std::size_t i = 0; i < std::size(key); ++i) halves[i / 8] |= std::uint64_t{key[i]} << i % 8 * 8;
    return halves;
}

/// The time that a caller has waited in an episode, from its first timed wait on.
class Waited {
public:
    /// Before each timed wait.
    void begin(Episode episode) noexcept {
        if (episode == episode_) return;
        episode_ = episode;
        since_ = std::chrono::steady_clock::now();
    }

    /// 0 where no timed wait has begun in that episode.
    std::int64_t ns(Episode episode) const noexcept {
        if (episode == 0 || episode != episode_) return 0;
        return std::chrono::nanoseconds(std::chrono::steady_clock::now() - since_).count();
    }

private:
    Episode episode_ = 0;
    std::chrono::steady_clock::time_point since_{};
};

/// The body of the functions named `missing`: writes `list()`, as tollbar.h says.
template <class List>
int write_missing(tollbar_missing* missing, std::size_t capacity, std::size_t* count, List list) noexcept {
    return guarded([&] {
        if (count == nullptr || (missing == nullptr && capacity != 0)) return fail(EINVAL, "missing or count is NULL");
        const std::vector<tollbar_missing> all = list();
        std::copy_n(all.begin(), std::min(capacity, all.size()), missing);
        *count = all.size();
        return 0;
    });
}

}  // namespace tollbar::detail::c_door
