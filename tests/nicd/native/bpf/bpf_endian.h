/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOLLBAR_TESTS_NICD_NATIVE_BPF_ENDIAN_H
#define TOLLBAR_TESTS_NICD_NATIVE_BPF_ENDIAN_H

#define bpf_htons(value) __builtin_bswap16(value)

#endif
