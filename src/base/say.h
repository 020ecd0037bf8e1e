/* SPDX-License-Identifier: Apache-2.0
 * The lines that tollbar writes on stderr. Every "tollbar: ..." of the library and its doors goes through here. */
#ifndef TOLLBAR_BASE_SAY_H
#define TOLLBAR_BASE_SAY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes "tollbar: ", what printf(3) makes of the rest, and a newline on stderr, at once, so that lines of several
 * ranks do not mix. Newlines within become blanks. Leaves errno as it is; says nothing without memory for the line, or
 * where the program has closed its stderr and another file has that descriptor. No cancellation point. */
void tollbar_say(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* As tollbar_say, the first time that this process comes with that key. */
void tollbar_say_once(const char* key, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Whether stderr may come to the program that has started this one; it does not from a file or /dev/null. */
int tollbar_stderr_travels(void);

/* Waits until all that was written on stderr has been read, where that is a pipe, for a tenth of a second at most. A
 * launcher reads some kilobytes at a time, and other ranks' lines may come between those and the rest of a line. */
void tollbar_await_reader(void);

/* Says a report of who is missing: appends "tollbar: ", the line and a newline to the file that TOLLBAR_REPORT names,
 * else writes it on stderr, as tollbar_say. `for_run` is "" in a process that no `tollbar run` has started; else that
 * run gets it instead, on stderr where that travels, or in its own file. */
void tollbar_report(const char* line, const char* for_run);

/* Says that the value of a setting is not accepted and that the default is used instead: once for each name, by the
 * first process of the job, since all its ranks have the same settings. */
void tollbar_refuse(const char* name, const char* value, const char* accepted, const char* fallback);

#ifdef __cplusplus
}
#endif

#endif
