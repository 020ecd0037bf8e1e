// SPDX-License-Identifier: Apache-2.0
// When to ask for a message again: soon, for it may be lost; then ever more rarely, for its sender may be late.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tollbar::detail {

/// A time-out that doubles each time it has passed without news.
class Overdue {
public:
    using Clock = std::chrono::steady_clock;

    Overdue(std::chrono::nanoseconds first, std::chrono::nanoseconds longest) noexcept
        : first_(first), longest_(longest), patience_(first) {}

    /// The wait begins.
    void reset() noexcept {
        patience_ = first_;
        at_ = Clock::now() + first_;
    }

    /// Whether it is time to ask. `news` is any number that changes when there is some: then the wait begins again.
    bool passed(std::uint64_t news) noexcept {
        if (news != news_) reset();
        news_ = news;
        const auto now = Clock::now();
        if (now < at_) return false;
        patience_ = std::min(2 * patience_, longest_);
        at_ = now + patience_;
        return true;
    }

    Clock::duration left() const noexcept { return at_ - Clock::now(); }

    /// How much longer the time-out has become.
    std::int64_t grown() const noexcept { return patience_ / first_; }

private:
    std::chrono::nanoseconds first_;
    std::chrono::nanoseconds longest_;
    std::chrono::nanoseconds patience_;
    Clock::time_point at_{};
    std::uint64_t news_ = 0;
};

}  // namespace tollbar::detail
