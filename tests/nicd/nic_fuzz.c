/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer: whatever packets come to a NIC, its programs read none beyond its end, and what nobody with the key has
 * sealed changes nothing that the NIC remembers of a group. The programs' own text, compiled for this processor. */
#define _GNU_SOURCE
#include "transports/nic/nic.bpf.c"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096, members = 4, self = 1 };

static const struct toll_key key = {42, 43};
static struct toll_group group;
static struct toll_host host;
static struct toll_identity who;
static toll_u8* packet_end; /* nothing may be read from there on */

void* bpf_map_lookup_elem(void* map, const void* wanted) {
    static toll_u64 counter;
    static toll_u32 slot;
    static toll_u8 yes;

    if (map == &statistics) return &counter;
    if (map == &slots) return *(const toll_u64*)wanted == who.name ? &slot : NULL;
    if (map == &groups) return &group;
    if (map == &hosts) return &host;
    if (map == &own) return &yes;
    return map; /* an inner map, which is its only value here */
}

long bpf_clone_redirect(struct __sk_buff* context, toll_u32 interface, toll_u64 flags) {
    (void)context, (void)interface, (void)flags;
    return 0;
}

long bpf_redirect(toll_u32 interface, toll_u64 flags) {
    (void)interface, (void)flags;
    return TC_ACT_REDIRECT;
}

static struct toll_header header_to(toll_u8 rank) {
    struct toll_header header;
    struct packet packet;

    memset(&header, 0, sizeof header);
    memset(&packet, 0, sizeof packet);
    packet.protocol = bpf_htons(0x0800);
    packet.version_length = 0x45;
    packet.transport = 17;
    packet.length = bpf_htons(toll_packet_bytes - 14);
    packet.udp_length = bpf_htons(8 + sizeof(struct toll_frame));
    packet.from_port = packet.to_port = bpf_htons(toll_port);
    packet.target[5] = rank;
    packet.to = packet.from = toll_net32(0x0a000000U + rank);
    memcpy(header.bytes, &packet, toll_header_bytes);
    return header;
}

/* Rank 1 of a group in which four exchange in pairs, in its fifth episode; not admitted yet in every other run. */
static void begin_run(int admitted) {
    memset(&group, 0, sizeof group);
    who = toll_identity_of(key, 1, 7);
    toll_become(&group.self, &who, 1000, self, 70, members, toll_plan); /* it admits ranks from 65 on */
    if (admitted) toll_begin(&group.self, 99);
    group.program = (struct toll_program){.steps = 2, .signals = 3, .awaits = 3};
    group.steps[0].step = (struct toll_step){0, 0, 0, 0};
    group.steps[1].step = (struct toll_step){3, 3, 1, 1};
    for (toll_u8 step = 0; step < 2; ++step)
        group.steps[step].to = group.steps[step].from = header_to((toll_u8)group.steps[step].step.to);
    for (toll_u8 rank = 0; rank < members; ++rank) group.member[rank] = header_to(rank);
    group.admits = header_to(0);
    group.state.at = toll_at(5, 0);
    for (int step = 0; step < toll_nic_steps; ++step) group.state.signalled[step] = 4;
}

/* The lead byte says how much help the bytes behind it get: none; a header; all but the MAC; the MAC too. */
static int help(toll_u8 lead, toll_u8* bytes, size_t size) {
    const struct toll_header header = header_to(lead >> 3 & 3);
    struct toll_frame frame;
    const struct toll_sip* sealing = &group.self.sealing;
    struct toll_sip other;

    if ((lead & 3) == 0 || size < toll_header_bytes) return 0;
    memcpy(bytes, header.bytes, toll_header_bytes);
    if ((lead & 3) == 1 || size < toll_packet_bytes) return 0;
    memcpy(&frame, bytes + toll_header_bytes, sizeof frame);
    frame.magic = toll_net32(toll_magic);
    frame.group = who.group;
    frame.name = who.name;
    frame.source &= toll_net16(127); /* most of them are ranks */
    if (lead & 4) frame.digest = who.digest;
    if (lead & 32) frame.incarnation = lead & 64 ? group.self.drawn : group.self.incarnation;
    if (lead & 128) frame.destination = toll_net16(self);
    frame.bytes = toll_signed;
    if ((lead & 3) == 3) {
        other = toll_sealing(&who, frame.incarnation, frame.digest);
        sealing = &other;
        frame.mac = toll_mac_of(sealing, &frame);
    }
    memcpy(bytes + toll_header_bytes, &frame, sizeof frame);
    return (lead & 3) == 3;
}

static void make_room(void) {
    toll_u8* room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

    if (room == MAP_FAILED || mprotect(room + page, page, PROT_NONE) != 0) abort();
    packet_end = room + page;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    struct toll_group before;

    if (!packet_end) make_room();
    if (size == 0) return 0;
    begin_run(data[0] & 1);
    for (++data, --size; size > 1;) {
        const toll_u8 lead = data[0];
        const size_t whole = lead % 16 == 15 ? size - 1 : toll_packet_bytes;
        const size_t bytes = whole < size - 1 ? whole : size - 1;
        toll_u8* const packet = packet_end - bytes;
        struct xdp_md received = {.data = (toll_u32)(uintptr_t)packet, .data_end = (toll_u32)(uintptr_t)packet_end};
        struct __sk_buff sent = {.data = received.data, .data_end = received.data_end};

        memcpy(packet, data + 1, bytes);
        before = group;
        const int sealed = help(lead, packet, bytes);
        const int verdict = lead & 64 ? arrive(&sent) : receive(&received);
        if (verdict == XDP_PASS && !(lead & 64)) proceed(&sent);
        if (!sealed && memcmp(&before, &group, sizeof group) != 0) abort();
        if (!group.self.incarnation && group.self.refusal >> 8) abort(); /* rank 0 alone may keep it out */
        data += 1 + bytes;
        size -= 1 + bytes;
    }
    return 0;
}
