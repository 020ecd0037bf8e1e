/* SPDX-License-Identifier: Apache-2.0
 * The answer of a preload to GCC's address sanitizer, whose runtime ends a program in which another library comes
 * first. Doors take no function that it takes, and a shell or a launcher hands them on to programs that nobody has
 * looked at. Options of the program's own, and those of ASAN_OPTIONS, count more. */
__attribute__((visibility("default"))) const char* __asan_default_options(void) { return "verify_asan_link_order=0"; }
