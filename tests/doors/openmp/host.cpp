// SPDX-License-Identifier: Apache-2.0
// Loads two plugins, each for itself alone: host PLUGIN PLUGIN [deep]. Regions of the first call the second; `deep`
// binds them to their own libraries first.
#include <cstdio>
#include <dlfcn.h>

namespace {

using Call = void();
using Region = long(int threads, Call* between);

struct Plugin {
    Plugin(const char* file, int how)
        : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL | how)),
          region(reinterpret_cast<Region*>(dlsym(handle, "plugin_region"))),
          barrier(reinterpret_cast<Call*>(dlsym(handle, "plugin_barrier"))),
          jump(reinterpret_cast<Call*>(dlsym(handle, "plugin_jump"))) {}

    void* handle;
    Region* region;
    Call *barrier, *jump;
};

}  // namespace

int main(int count, char** words) {
    const int how = count > 3 ? RTLD_DEEPBIND : 0;
    const Plugin one(words[1], how), other(words[2], how);
    static Region* const inner = other.region;
    static long missing = 0;
    one.barrier();
    one.jump();
    missing += one.region(3, nullptr);
#ifndef _OPENMP
    missing += one.region(3, other.barrier);  // outside of all regions of the other runtime: nobody is waited for
#endif
    missing += one.region(3, [] { missing += inner(2, nullptr); });
#ifdef _OPENMP
#    pragma omp parallel num_threads(3)
    {
#    pragma omp barrier
#    pragma omp single
        missing += one.region(2, nullptr);
#    pragma omp barrier
    }
#endif
    std::printf("%ld missing\n", missing);
    return missing == 0 ? 0 : 1;
}
