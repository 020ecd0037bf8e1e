// SPDX-License-Identifier: Apache-2.0
// The main function every test program shares.
#define DOCTEST_CONFIG_IMPLEMENT  // said as well, for where the other half of the header came precompiled
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
