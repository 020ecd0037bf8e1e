/* SPDX-License-Identifier: Apache-2.0 */
#define ONLY_START
#include "plugin_counting.c"
