/* SPDX-License-Identifier: Apache-2.0
 * Frames as the NIC's programs read and write them: 98 bytes, always. */
#ifndef TOLLBAR_TRANSPORTS_NIC_PACKET_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_PACKET_BPF_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "group.h"

struct packet {
    toll_u8 target[6];
    toll_u8 origin[6];
    toll_u16 protocol;
    toll_u8 version_length;
    toll_u8 service;
    toll_u16 length;
    toll_u16 identity;
    toll_u16 fragment;
    toll_u8 hops;
    toll_u8 transport;
    toll_u16 ip_check;
    toll_u32 from;
    toll_u32 to;
    toll_u16 from_port;
    toll_u16 to_port;
    toll_u16 udp_length;
    toll_u16 udp_check;
    struct toll_frame frame;
} __attribute__((packed, aligned(2)));

_Static_assert(sizeof(struct packet) == toll_packet_bytes, "a packet is a header and a frame");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, toll_statistics);
    __type(key, toll_u32);
    __type(value, toll_u64);
} statistics SEC(".maps");

TOLL_INLINE void count(toll_u32 what) {
    toll_u64* counter = bpf_map_lookup_elem(&statistics, &what);

    if (counter) ++*counter;
}

#ifndef TOLL_BOUNDS
/* The packet's addresses are kept as the verifier knows them; the compiler would widen them and lose that. */
#    define TOLL_BOUNDS(context, begin, end, field)                                 \
        asm volatile("%[b] = *(u32 *)(%[c] + %[ob])\n%[e] = *(u32 *)(%[c] + %[oe])" \
                     : [b] "=&r"(begin), [e] "=&r"(end)                             \
                     : [c] "r"(context), [ob] "i"(__builtin_offsetof(field, data)), \
                       [oe] "i"(__builtin_offsetof(field, data_end))                \
                     : "memory")
#endif

TOLL_INLINE struct toll_frame* frame_of(struct packet* packet) { return (void*)packet + toll_header_bytes; }

/* A barrier's packet, or NULL. `whole`: all of it is there and nothing else. */
TOLL_INLINE struct packet* packet_at(void* data, void* end, int* whole) {
    struct packet* packet = data;

    *whole = 0;
    if (data + toll_header_bytes + sizeof packet->frame.magic > end) return 0;
    if (packet->protocol != bpf_htons(0x0800) || packet->version_length != 0x45 || packet->transport != 17) return 0;
    if (packet->to_port != bpf_htons(toll_port)) return 0;
    if (frame_of(packet)->magic != toll_net32(toll_magic)) return 0;
    if ((void*)(packet + 1) > end) return packet;
    *whole = (void*)(packet + 1) + 1 > end && packet->length == bpf_htons(toll_packet_bytes - 14) &&
             packet->udp_length == bpf_htons(8 + sizeof(struct toll_frame)) && !(packet->fragment & bpf_htons(0x3fff));
    return packet;
}

TOLL_INLINE toll_u32 address_of(const struct toll_header* header) { return ((const struct packet*)header)->to; }

/* In words as wide as they come; processors that run NICs' programs do not mind where these lie. */
TOLL_INLINE void write_header(struct packet* packet, const struct toll_header* header) {
    for (int i = 0; i < toll_header_bytes / 8; ++i) ((toll_u64*)packet)[i] = ((const toll_u64*)header)[i];
    ((toll_u16*)packet)[toll_header_bytes / 2 - 1] = ((const toll_u16*)header)[toll_header_bytes / 2 - 1];
}

/* All but the group's name and number, which stay. */
TOLL_INLINE void write_frame(struct packet* packet, const struct toll_sip* sealing, toll_u32 source,
                             toll_u32 destination, enum toll_kind kind, toll_u16 step, toll_u64 episode) {
    struct toll_frame* frame = frame_of(packet);
    const toll_u64 tail = toll_tail_of(source, destination, step, kind);

    episode = toll_net64(episode);
    frame->episode = episode;
    __builtin_memcpy((toll_u8*)frame + __builtin_offsetof(struct toll_frame, source), &tail, sizeof tail);
    frame->mac = toll_mac(sealing, episode, tail);
}

/* The packet goes back where it came from. */
TOLL_INLINE void turn_round(struct packet* packet) {
    const toll_u32 address = packet->from;
    const toll_u16 port = packet->from_port;
    toll_u8 target[6];

    __builtin_memcpy(target, packet->target, 6);
    __builtin_memcpy(packet->target, packet->origin, 6);
    __builtin_memcpy(packet->origin, target, 6);
    packet->from = packet->to;
    packet->to = address;
    packet->from_port = packet->to_port;
    packet->to_port = port;
    packet->udp_check = 0;
}

#endif
