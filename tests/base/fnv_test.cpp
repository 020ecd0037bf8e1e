// SPDX-License-Identifier: Apache-2.0
#include "base/fnv.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tollbar::detail;

TEST_CASE("processes of two C++ libraries hash a text to the same number") {
    CHECK(fnv1a(std::string("")) == 0xcbf2'9ce4'8422'2325);  // as FNV's authors list them
    CHECK(fnv1a(std::string("a")) == 0xaf63'dc4c'8601'ec8c);
    CHECK(fnv1a(std::string("foobar")) == 0x8594'4171'f739'67e8);
    CHECK(fnv1a(std::string("bar"), fnv1a(std::string("foo"))) == fnv1a(std::string("foobar")));
    CHECK(fnv1a(std::as_bytes(std::span("\xff", 1))) == fnv1a(std::string("\xff")));
}
