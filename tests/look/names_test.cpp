// SPDX-License-Identifier: Apache-2.0
// Names of functions are those that a reader of the source knows.
#include "look/names.hpp"

#include <doctest/doctest.h>

using namespace tollbar::look;

TEST_CASE("a function of C or Fortran keeps its name as it is") {
    for (const char* const name : {"f", "main._omp_fn.0", "MAIN__", "__grid_MOD_step", "step_", "a.part.0"})
        CHECK(brief(name) == name);
}

TEST_CASE("a name of C++ is without its result, its arguments and those of its templates") {
    CHECK(brief("_ZN6solver4stepEiRKd") == "solver::step");
    CHECK(brief("_ZNK12_GLOBAL__N_13BoxIiE4stepEid") == "Box::step");
    CHECK(brief("_Z1fIiEvT_") == "f");
    CHECK(brief("_ZlsRSoRK1X") == "operator<<");
    CHECK(brief("_ZltI1XEbRKT_S3_") == "operator<");
    CHECK(brief("_ZN1XcvbEv") == "X::operator bool");
    CHECK(brief("_ZN1XclEi") == "X::operator()");
    CHECK(brief("_ZZ4mainENKUliE_clEi") == "main::{lambda(int)#1}::operator()");
    CHECK(brief("_Z4stepi._omp_fn.0") == "step");
    CHECK(brief("_ZNK1XptEv") == "X::operator->");
    CHECK(brief_of_plain("Step<std::vector<int> >::operator()") == "Step::operator()");
    CHECK(brief_of_plain("std::map<int, void (*)(int)>::at(int const&) const") == "std::map::at");
}
