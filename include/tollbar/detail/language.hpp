// SPDX-License-Identifier: Apache-2.0
// The first include of every header that needs C++20: says so where an older one is compiled, and nothing else.
#pragma once

#if __cplusplus < 202002L
#    error "tollbar needs -std=c++20"
// Compilers go on after #error, into a hundred errors that follow from this one; not after a header that is not there.
#    include <a compiler for C++20>
#endif
