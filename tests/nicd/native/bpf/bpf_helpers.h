/* SPDX-License-Identifier: Apache-2.0
 * The contents of libbpf's header of this name, for this processor: the NIC's programs as an ordinary part of a test,
 * which says what the kernel's functions do. */
#ifndef TOLLBAR_TESTS_NICD_NATIVE_BPF_HELPERS_H
#define TOLLBAR_TESTS_NICD_NATIVE_BPF_HELPERS_H

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, of) of* name
#define __array(name, of) of* name[]

/* A packet lies where 32 bits reach, as in the kernel's structure. */
#define TOLL_BOUNDS(context, begin, end, field)               \
    do {                                                      \
        (begin) = (void*)(__UINTPTR_TYPE__)(context)->data;   \
        (end) = (void*)(__UINTPTR_TYPE__)(context)->data_end; \
    } while (0)

void* bpf_map_lookup_elem(void* map, const void* key);
long bpf_clone_redirect(struct __sk_buff* context, __UINT32_TYPE__ interface, __UINT64_TYPE__ flags);
long bpf_redirect(__UINT32_TYPE__ interface, __UINT64_TYPE__ flags);

#endif
