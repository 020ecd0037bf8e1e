/* SPDX-License-Identifier: Apache-2.0
 * The maps in which a NIC finds a group and its own addresses, and the fate of a packet. */
#ifndef TOLLBAR_TRANSPORTS_NIC_GROUPS_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_GROUPS_BPF_H

#include "packet.bpf.h"

struct group_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(key_size, sizeof(toll_u32));
    __uint(value_size, sizeof(struct toll_group));
};

/* By slot. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, toll_groups);
    __type(key, toll_u32);
    __array(values, struct group_map);
} groups SEC(".maps");

/* By name. A map of numbers: a change to one of maps waits for all processors. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, toll_groups);
    __type(key, toll_u64);
    __type(value, toll_u32);
} slots SEC(".maps");

struct host_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(key_size, sizeof(toll_u32));
    __uint(value_size, sizeof(struct toll_host));
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, toll_groups);
    __type(key, toll_u32);
    __array(values, struct host_map);
} hosts SEC(".maps");

/* The interface's addresses, kept by the daemon. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, toll_u32);
    __type(value, toll_u8);
} own SEC(".maps");

TOLL_INLINE struct toll_group* group_of(const struct toll_frame* frame) {
    const toll_u64 name = frame->name;
    const toll_u32 first = 0;
    const toll_u32* slot = bpf_map_lookup_elem(&slots, &name);
    void* map = slot ? bpf_map_lookup_elem(&groups, slot) : 0;

    return map ? bpf_map_lookup_elem(map, &first) : 0;
}

TOLL_INLINE int owner_sleeps(const struct toll_group* group, toll_u64 episode) {
    const toll_u32 slot = group->slot, first = 0;
    void* map = bpf_map_lookup_elem(&hosts, &slot);
    const struct toll_host* host = map ? bpf_map_lookup_elem(map, &first) : 0;

    return host && *(const volatile toll_u64*)&host->waiting == episode;
}

TOLL_INLINE int answered(void) {
    count(toll_answered);
    return XDP_TX;
}

TOLL_INLINE int dropped(toll_u32 why) {
    count(why);
    return XDP_DROP;
}

/* Whether a packet goes from one host to this one: an answer that comes from many hosts' address comes from nobody. */
TOLL_INLINE int is_between_two(const struct packet* packet) {
    const toll_u32 asked = packet->to;

    return !((packet->target[0] | packet->origin[0]) & 1) && bpf_map_lookup_elem(&own, &asked);
}

#endif
