/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for tests in plain C: each prints what was wrong and goes on; the program's exit status tells. */
#ifndef TOLLBAR_TESTS_CHECK_H
#define TOLLBAR_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

#include <tollbar/tollbar.h>

static int failures;

#define CHECK(truth) \
    (void)((truth) || (++failures, fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #truth)))

/* The call fails with that error and a line that contains `part`. */
#define CHECK_FAILS(call, error, part) check_fails((call), (error), (part), #call, __FILE__, __LINE__)

static void check_fails(int result, int error, const char* part, const char* call, const char* file, int line) {
    if (result == error && strstr(tollbar_last_error(), part) != NULL) return;
    ++failures;
    fprintf(stderr, "%s:%d: %s: %d (%s: %s), expected %d (%s)\n", file, line, call, result, tollbar_strerror(result),
            tollbar_last_error(), error, part);
}

static int verdict(const char* what) {
    printf("%s: %s\n", what, failures == 0 ? "every check passed" : "FAILED");
    return failures == 0 ? 0 : 1;
}

#endif
