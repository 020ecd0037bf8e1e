/* SPDX-License-Identifier: Apache-2.0 */
#define OWN_START
#include "handles.c"
