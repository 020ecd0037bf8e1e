// SPDX-License-Identifier: Apache-2.0
// Reads TOLLBAR_WAIT and TOLLBAR_TIMEOUT.
#include <tollbar/environment.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tollbar {

namespace {

constexpr std::array<std::string_view, 4> names{"auto", "spin", "yield", "park"};  // in the order of wait_policy

}  // namespace

std::optional<wait_policy> wait_policy_named(std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return static_cast<wait_policy>(i);
    return std::nullopt;
}

std::string_view name_of(wait_policy policy) noexcept { return names[static_cast<std::size_t>(policy)]; }

namespace {

wait_policy read_wait_policy() noexcept {
    const char* value = std::getenv("TOLLBAR_WAIT");
    if (value == nullptr || *value == '\0') return wait_policy::automatic;
    const auto policy = wait_policy_named(value);
    if (!policy)
        std::fprintf(stderr, "tollbar: TOLLBAR_WAIT='%s' is none of auto, spin, yield, park; taking auto\n", value);
    return policy.value_or(wait_policy::automatic);
}

}  // namespace

wait_policy wait_policy_from_environment() noexcept {
    static const wait_policy policy = read_wait_policy();
    return policy;
}

std::optional<std::chrono::duration<double>> timeout_from_environment() noexcept {
    const char* value = std::getenv("TOLLBAR_TIMEOUT");
    if (value == nullptr || *value == '\0') return std::nullopt;
    char* end = nullptr;
    const double seconds = std::strtod(value, &end);
    if (*end == '\0' && std::isfinite(seconds) && seconds > 0) return std::chrono::duration<double>(seconds);
    std::fprintf(stderr, "tollbar: TOLLBAR_TIMEOUT='%s' is not a positive number of seconds; waiting without\n", value);
    return std::nullopt;
}

}  // namespace tollbar
