/* SPDX-License-Identifier: Apache-2.0
 * A switch that counts: on each of its ports, frames that say "I have entered" end here, and when all members of a
 * group have said so every port is told. Everything else passes. A group needs no set-up: its first frame makes it. */
#include "packet.bpf.h"

enum { toll_ports = 64 };

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, toll_groups);
    __type(key, struct toll_name);
    __type(value, struct toll_tally);
} tallies SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, toll_ports);
    __uint(key_size, sizeof(toll_u32));
    __uint(value_size, sizeof(toll_u32));
} ports SEC(".maps");

TOLL_INLINE struct toll_tally* tally_of(const struct toll_name* name, toll_u32 members, toll_u64 episode) {
    struct toll_tally* tally = bpf_map_lookup_elem(&tallies, name);
    struct toll_tally fresh = {.members = members};

    if (tally) return tally;
    fresh.state.counted[0] = fresh.state.counted[1] = (episode - 1) << 32;
    fresh.state.released = episode - 1;
    bpf_map_update_elem(&tallies, name, &fresh, BPF_NOEXIST); /* another port may be first */
    return bpf_map_lookup_elem(&tallies, name);
}

TOLL_INLINE void release(struct packet* packet, toll_u64 episode) {
    for (int i = 0; i < 6; ++i) packet->origin[i] = 0x02; /* a locally administered address; a broadcast has none */
    write_frame(packet, TOLLBAR_NOBODY, toll_release, 0, episode, 0);
}

TOLL_INLINE int tally(struct xdp_md* context) {
    void *data, *end;
    struct packet* packet;
    struct toll_frame* frame;
    struct toll_tally* tally;
    struct toll_name name;
    toll_u64 episode;
    toll_u32 source;
    int whole;

    TOLL_BOUNDS(context, data, end, struct xdp_md);
    packet = packet_at(data, end, &whole);
    if (!packet || !whole || (void*)(packet + 1) > end) return XDP_PASS;
    frame = frame_of(packet);
    if (frame->kind != toll_gather || packet->target[0] != 0xff) return XDP_PASS; /* a card counts that one */
    if (frame->check != toll_net32(toll_check(frame))) {
        count(toll_altered);
        return XDP_DROP;
    }
    source = toll_net32(frame->source);
    episode = toll_net64(frame->episode);
    name = (struct toll_name){.key = frame->key, .group = frame->group};
    tally = tally_of(&name, toll_net16(frame->step), episode);
    if (!tally || tally->members > toll_counted || source >= tally->members ||
        tally->members != toll_net16(frame->step)) {
        count(toll_forged);
        return XDP_DROP;
    }
    count(toll_frames);
    if (!toll_newer(episode, toll_load(&tally->state.released))) {
        __builtin_memcpy(packet->target, packet->origin, 6);
        release(packet, toll_load(&tally->state.released));
        count(toll_answered);
        return XDP_TX;
    }
    if (!toll_count(&tally->state, tally->members, source & (toll_counted - 1), episode)) return XDP_DROP;
    release(packet, episode);
    count(toll_answered);
    return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST);
}

SEC("xdp")
int tally_up(struct xdp_md* context) { return tally(context); }

const char terms[] SEC("license") = "Apache-2.0";
