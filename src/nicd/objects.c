/* SPDX-License-Identifier: Apache-2.0
 * TOLLBAR_NIC_OBJECT and TOLLBAR_SWITCH_OBJECT are the files, given by the build. */
#include "objects.h"

#define INCLUDED(symbol, file)                                                                  \
    __asm__(".pushsection .rodata\n.balign 16\n.globl " symbol "\n" symbol ":\n.incbin \"" file \
            "\"\n"                                                                              \
            ".globl " symbol "_end\n" symbol "_end:\n.byte 0\n.popsection")

INCLUDED("tollbar_nic_object", TOLLBAR_NIC_OBJECT);
INCLUDED("tollbar_switch_object", TOLLBAR_SWITCH_OBJECT);
