/* SPDX-License-Identifier: Apache-2.0
 * Bad weather on the wires between hosts: barriers' frames are lost, doubled, altered, or held and let go in another's
 * place later. `blow` is for a switch that only passes them on, `blow_and_tally` for one that counts. */
#include "transports/nic/switch.bpf.c"

#include "storm.h"

struct held_frame {
    toll_u32 full;
    toll_u8 bytes[toll_packet_bytes];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, toll_u32);
    __type(value, struct storm_weather);
} weather SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, toll_u32);
    __type(value, struct storm_deeds);
} deeds SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 64);
    __type(key, toll_u32);
    __type(value, struct held_frame);
} stash SEC(".maps");

static inline int chance(toll_u32 per_mille) { return bpf_get_prandom_u32() % 1000 < per_mille; }

SEC("tc")
int blow(struct __sk_buff* context) {
    const toll_u32 first = 0, port = context->ifindex % 64;
    struct storm_weather* now = bpf_map_lookup_elem(&weather, &first);
    struct storm_deeds* done = bpf_map_lookup_elem(&deeds, &first);
    struct held_frame* held = bpf_map_lookup_elem(&stash, &port);
    toll_u8 bytes[toll_packet_bytes];
    toll_u8 byte;
    toll_u32 at;

    if (!now || !done || !held || context->mark == storm_mark || context->len != toll_packet_bytes)
        return TC_ACT_UNSPEC;
    if (bpf_skb_load_bytes(context, 0, bytes, sizeof bytes) != 0) return TC_ACT_UNSPEC;
    if (bytes[36] != toll_port >> 8 || bytes[37] != (toll_port & 0xff)) return TC_ACT_UNSPEC;
    if (chance(now->lost)) return TC_ACT_SHOT;
    if (chance(now->held)) {
        done->held++;
        if (held->full) bpf_skb_store_bytes(context, 0, held->bytes, sizeof held->bytes, 0);
        at = held->full;
        __builtin_memcpy(held->bytes, bytes, sizeof bytes);
        held->full = 1;
        if (!at) return TC_ACT_SHOT;
    }
    if (chance(now->altered)) {
        done->altered++;
        at = toll_header_bytes + bpf_get_prandom_u32() % sizeof(struct toll_frame);
        bpf_skb_load_bytes(context, at, &byte, 1);
        byte ^= 1 << bpf_get_prandom_u32() % 8;
        bpf_skb_store_bytes(context, at, &byte, 1, 0);
    }
    if (chance(now->doubled)) {
        context->mark = storm_mark;
        bpf_clone_redirect(context, context->ifindex, BPF_F_INGRESS);
    }
    return TC_ACT_UNSPEC;
}

/* What comes in, and what the switch says to it: a release is lost for all at once, which their asking again mends. */
SEC("xdp")
int blow_and_tally(struct xdp_md* context) {
    const toll_u32 first = 0, port = context->ingress_ifindex % 64;
    struct storm_weather* now = bpf_map_lookup_elem(&weather, &first);
    struct storm_deeds* done = bpf_map_lookup_elem(&deeds, &first);
    struct held_frame* held = bpf_map_lookup_elem(&stash, &port);
    void *data, *end;
    toll_u8* bytes;
    toll_u8 byte;
    toll_u32 at;
    int verdict;

    TOLL_BOUNDS(context, data, end, struct xdp_md);
    if (!now || !done || !held || data + toll_packet_bytes > end) return XDP_PASS;
    bytes = data;
    if (bytes[36] != toll_port >> 8 || bytes[37] != (toll_port & 0xff)) return XDP_PASS;
    if (chance(now->lost)) return XDP_DROP;
    if (chance(now->held)) {
        done->held++;
        if (!held->full) {
            __builtin_memcpy(held->bytes, bytes, toll_packet_bytes);
            held->full = 1;
            return XDP_DROP;
        }
        for (int i = 0; i < toll_packet_bytes; ++i) {
            byte = held->bytes[i];
            held->bytes[i] = bytes[i];
            bytes[i] = byte;
        }
    }
    if (chance(now->altered)) {
        done->altered++;
        at = toll_header_bytes + bpf_get_prandom_u32() % sizeof(struct toll_frame);
        bpf_xdp_load_bytes(context, at, &byte, 1);
        byte ^= 1 << bpf_get_prandom_u32() % 8;
        bpf_xdp_store_bytes(context, at, &byte, 1);
    }
    verdict = tally(context);
    if (verdict == XDP_DROP && chance(now->doubled)) verdict = tally(context);
    return verdict != XDP_PASS && chance(now->lost) ? XDP_DROP : verdict;
}
