// SPDX-License-Identifier: Apache-2.0
// Loads two plugins, each for itself alone: host PLUGIN PLUGIN [deep|all|late]. Regions of the first call the second;
// `deep` binds them to their own libraries first, with `all` each thread of a region calls, with `late` one comes late.
#include <cstdio>
#include <dlfcn.h>
#include <string_view>

namespace {

using Call = void();
using Region = long(int threads, Call* between, bool all);
using Late = long(Call* inside);

struct Plugin {
    Plugin(const char* file, int how)
        : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL | how)),
          region(reinterpret_cast<Region*>(dlsym(handle, "plugin_region"))),
          barrier(reinterpret_cast<Call*>(dlsym(handle, "plugin_barrier"))),
          jump(reinterpret_cast<Call*>(dlsym(handle, "plugin_jump"))),
          late(reinterpret_cast<Late*>(dlsym(handle, "plugin_late"))) {}

    void* handle;
    Region* region;
    Call *barrier, *jump;
    Late* late;
};

}  // namespace

int main(int count, char** words) {
    const std::string_view word = count > 3 ? words[3] : "";
    const int how = word == "deep" ? RTLD_DEEPBIND : 0;
    const bool all = word == "all";
    const Plugin one(words[1], how), other(words[2], how);
    static Region* const inner = other.region;
    static long missing = 0;
    if (word == "late") {
        missing = one.late(other.barrier);
        std::printf("%ld missing\n", missing);
        return 0;
    }
    one.barrier();
    one.jump();
    missing += one.region(3, nullptr, all);
#ifndef _OPENMP
    missing += one.region(3, other.barrier, all);  // outside of all regions of the other runtime: nobody is waited for
#endif
    missing += one.region(
        3, [] { missing += inner(2, nullptr, false); }, false);
#ifdef _OPENMP
#    pragma omp parallel num_threads(3)
    {
#    pragma omp barrier
#    pragma omp single
        missing += one.region(2, nullptr, false);
#    pragma omp barrier
    }
#endif
    std::printf("%ld missing\n", missing);
    return missing == 0 ? 0 : 1;
}
