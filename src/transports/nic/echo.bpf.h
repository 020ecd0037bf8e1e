/* SPDX-License-Identifier: Apache-2.0
 * Who gets an answer to an echo. */
#ifndef TOLLBAR_TRANSPORTS_NIC_ECHO_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_ECHO_BPF_H

#include "packet.bpf.h"

/* The interface's addresses, kept by the daemon. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, toll_u32);
    __type(value, toll_u8);
} own SEC(".maps");

/* Whether a packet goes from one host to this one: an answer that comes from many hosts' address comes from nobody. */
TOLL_INLINE int is_between_two(const struct packet* packet) {
    const toll_u32 asked = packet->to;

    return !((packet->target[0] | packet->origin[0]) & 1) && bpf_map_lookup_elem(&own, &asked);
}

#endif
