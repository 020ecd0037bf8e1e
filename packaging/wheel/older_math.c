// SPDX-License-Identifier: Apache-2.0
// Functions with a new version since glibc 2.29, which differs in what happens at errors: these call the first version.
// packaging/wheel/root puts them before the mathematical library that wheels are linked with.
#ifdef __x86_64__
#    define FIRST_VERSION "GLIBC_2.2.5"
#else
#    define FIRST_VERSION "GLIBC_2.17"
#endif

double first_exp(double x);
double first_exp2(double x);
double first_log(double x);
double first_log2(double x);
double first_pow(double x, double y);
__asm__(".symver first_exp, exp@" FIRST_VERSION);
__asm__(".symver first_exp2, exp2@" FIRST_VERSION);
__asm__(".symver first_log, log@" FIRST_VERSION);
__asm__(".symver first_log2, log2@" FIRST_VERSION);
__asm__(".symver first_pow, pow@" FIRST_VERSION);

#pragma GCC visibility push(hidden)
double exp(double x);
double exp2(double x);
double log(double x);
double log2(double x);
double pow(double x, double y);
#pragma GCC visibility pop

double exp(double x) { return first_exp(x); }
double exp2(double x) { return first_exp2(x); }
double log(double x) { return first_log(x); }
double log2(double x) { return first_log2(x); }
double pow(double x, double y) { return first_pow(x, y); }
