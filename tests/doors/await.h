/* SPDX-License-Identifier: Apache-2.0
 * Lateness that the test controls: whoever is late comes once a text stands in a file. */
#ifndef TOLLBAR_TESTS_DOORS_AWAIT_H
#define TOLLBAR_TESTS_DOORS_AWAIT_H

#include <stdio.h>
#include <string.h>
#include <time.h>

static inline int stands_in(const char* path, const char* text) {
    char all[65536];
    FILE* file = fopen(path, "r");
    if (file == NULL) return 0;
    all[fread(all, 1, sizeof all - 1, file)] = '\0';
    fclose(file);
    return strstr(all, text) != NULL;
}

static inline void await_text(const char* path, const char* text) {
    const struct timespec moment = {0, 1000000};
    while (!stands_in(path, text)) nanosleep(&moment, NULL);
}

#endif
