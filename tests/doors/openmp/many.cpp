// SPDX-License-Identifier: Apache-2.0
// Loads plugins, each for itself alone, and has each run a small region: many kept|closed PLUGIN...
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

int main(int count, char** words) {
    long missing = 0;
    for (int i = 2; i < count; ++i) {
        void* const handle = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
        using Numbers = long(int threads);
        missing += reinterpret_cast<Numbers*>(dlsym(handle, "plugin_numbers"))(3);
        if (std::strcmp(words[1], "closed") == 0) dlclose(handle);
    }
    std::printf("%ld missing\n", missing);
    return missing == 0 ? 0 : 1;
}
