// SPDX-License-Identifier: Apache-2.0
// In place of fiber.cpp where the C library has no contexts, as musl.
#include "fiber.hpp"

#include <cerrno>
#include <system_error>

namespace tollbar::detail {

struct Fiber::Stack {};

Fiber::Fiber(std::function<void()>) {
    throw std::system_error(ENOTSUP, std::generic_category(), "this C library has no second stacks");
}

Fiber::~Fiber() = default;

bool Fiber::resume() { return true; }

void Fiber::yield() {}

}  // namespace tollbar::detail
