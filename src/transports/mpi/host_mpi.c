/* SPDX-License-Identifier: Apache-2.0
 * Finds out which MPI a program runs with, from where PMPI_Barrier comes from and what the MPI says of itself. */
#include "host_mpi.h"

#include "family.h"

#include "base/environment.h"
#include "base/say.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int tollbar_known_to_fit;

static char key[64];

/* How each MPI opens what MPI_Get_library_version gives, and where its version stands. */
static const struct {
    const char* opening;
    const char* before_version;
    const char* name;
    const char* key;
    const char* family;
} known[] = {
    {"Open MPI v", "Open MPI v", "Open MPI", "openmpi", "openmpi"},
    {"MPICH Version:", "MPICH Version:", "MPICH", "mpich", "mpich"},
    {"Intel(R) MPI Library", "Intel(R) MPI Library", "Intel MPI", "impi", "mpich"},
    {"MVAPICH", "Version", "MVAPICH", "mvapich", "mpich"},
};

static const char* skip_to_version(const char* text) { return text + strcspn(text, "0123456789"); }

/* A program that opened its MPI for itself alone (Python does) has it opened for everybody. */
static int share_library(struct dl_phdr_info* info, size_t size, void* unused) {
    (void)size, (void)unused;
    const char* slash = strrchr(info->dlpi_name, '/');
    if (slash == NULL || strncmp(slash, "/libmp", 6) != 0) return 0;
    void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    if (library != NULL) dlclose(library);
    return 0;
}

/* The family of the program's MPI, and what to call it; NULL when it is none that is known. */
static const char* find_family(char* called, size_t size) {
    Dl_info where;
    void* barrier = dlsym(RTLD_DEFAULT, "PMPI_Barrier");
    int (*version)(char*, int*) = (int (*)(char*, int*))tollbar_of_program("PMPI_Get_library_version");
    char text[8192] = ""; /* no MPI says more */
    if (barrier == NULL || version == NULL || version(text, &(int){0}) != 0) return NULL;
    const int standard = dladdr(barrier, &where) != 0 && strstr(where.dli_fname, "mpi_abi") != NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strncmp(text, known[i].opening, strlen(known[i].opening)) != 0) continue;
        const char* after = strstr(text, known[i].before_version);
        const char* number = skip_to_version(after == NULL ? "" : after + strlen(known[i].before_version));
        const int length = (int)strspn(number, "0123456789.");
        snprintf(key, sizeof key, "%s-%.*s", known[i].key, length, number);
        snprintf(called, size, "%s %.*s%s", known[i].name, length, number, standard ? " by the standard ABI" : "");
        return standard ? "abi" : known[i].family;
    }
    return NULL;
}

/* The loader has bound every name at the start, as LD_BIND_NOW asks for, and there was no MPI then: calls of ours by
 * name would go nowhere, though the program has opened one since. */
static int is_bound_to_none;

__attribute__((constructor)) static void note_binding(void) {
    is_bound_to_none = tollbar_is_bound_at_start() && dlsym(RTLD_DEFAULT, "PMPI_Barrier") == NULL;
}

static void find_once(void) {
    char called[128] = "an MPI that is not known";
    if (dlsym(RTLD_DEFAULT, "PMPI_Barrier") == NULL) dl_iterate_phdr(share_library, NULL);
    const char* family = find_family(called, sizeof called);
    const int same = family != NULL && strcmp(family, tollbar_family) == 0;
    const int fits = same && !is_bound_to_none && tollbar_find_constants();
    if (!fits && same && is_bound_to_none && tollbar_first_of_job()) {
        tollbar_say(
            TOLLBAR_LIBRARY
            "%s.so does not serve an MPI that is opened later where LD_BIND_NOW is set; " TOLLBAR_LEFT_UNCHANGED,
            tollbar_family);
    } else if (!fits && tollbar_first_of_job()) {
        const int another = family != NULL && strcmp(family, tollbar_family) != 0;
        tollbar_say(TOLLBAR_LIBRARY "%s.so does not serve %s%s%s%s; " TOLLBAR_LEFT_UNCHANGED, tollbar_family, called,
                    another ? ": preload " TOLLBAR_LIBRARY : "", another ? family : "", another ? ".so" : "");
    }
    /* Release: the constants and the key are there for whoever sees that we fit. */
    __atomic_store_n(&tollbar_known_to_fit, fits, __ATOMIC_RELEASE);
}

int tollbar_find_fit(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_once);
    return __atomic_load_n(&tollbar_known_to_fit, __ATOMIC_ACQUIRE); /* pairs with find_once() */
}

const char* tollbar_mpi_key(void) { return key; }

tollbar_function tollbar_next_definition(const char* name) {
    char profiling[64];
    tollbar_find_fit(); /* an MPI that was opened for one library alone can be found then */
    const tollbar_function found = tollbar_find(RTLD_NEXT, name);
    snprintf(profiling, sizeof profiling, "P%s", name);
    return found != NULL ? found : tollbar_of_program(profiling);
}
