/* SPDX-License-Identifier: Apache-2.0
 * A program that is linked with no MPI and opens, for itself alone, a library that is: as Python does with mpi4py. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char**) = plugin == NULL ? NULL : (int (*)(int, char**))dlsym(plugin, "plugin_main");
    if (run != NULL) return run(argc, argv);
    fprintf(stderr, "FAILED: %s\n", dlerror());
    return 1;
}
