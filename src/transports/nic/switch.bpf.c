/* SPDX-License-Identifier: Apache-2.0
 * A switch that counts: on each of its ports, frames that say "I have entered" end here, and when all members of a
 * group have said so every port gets a release. Everything else passes. A group needs no set-up: its first sound frame
 * makes it. Anything the switch forgets, also all of it, comes back with the next frame of each member. */
#include "packet.bpf.h"

enum { toll_ports = 64 };

/* The groups' keys are made of it; set before the programs are loaded. */
const volatile struct toll_key switch_key;

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, toll_groups);
    __type(key, struct toll_use);
    __type(value, struct toll_tally);
} tallies SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __uint(max_entries, toll_ports);
    __uint(key_size, sizeof(toll_u32));
    __uint(value_size, sizeof(toll_u32));
} ports SEC(".maps");

/* A function of its own: once for each group, so that the rest is short. */
__attribute__((noinline)) int make_tally(const struct toll_use* use, toll_u32 group, struct toll_tally* tally) {
    const struct toll_key key = {switch_key.low, switch_key.high};
    struct toll_identity who;

    if (!use || !tally) return 0;
    who = toll_identity_under(toll_switch_key(key, use->name), use->name, group, use->digest);
    tally->sealing = toll_sealing(&who, use->incarnation, use->digest);
    return 1;
}

TOLL_INLINE void release(struct packet* packet, const struct toll_tally* tally, toll_u64 episode) {
    for (int i = 0; i < 6; ++i) packet->origin[i] = 0x02; /* a locally administered address; a broadcast has none */
    write_frame(packet, &tally->sealing, toll_the_switch, toll_everybody, toll_release, 0, episode);
}

/* The tally of a frame that is sound, made for the first one. */
TOLL_INLINE struct toll_tally* tally_of(const struct toll_frame* frame, toll_u64 episode) {
    const struct toll_use use = {.name = frame->name, .incarnation = frame->incarnation, .digest = frame->digest};
    struct toll_tally* tally = bpf_map_lookup_elem(&tallies, &use);
    struct toll_tally fresh = {.members = toll_net16(frame->step)};

    if (!tally) {
        if (!make_tally(&use, frame->group, &fresh) || frame->mac != toll_mac_of(&fresh.sealing, frame)) return 0;
        fresh.state.counted[0] = fresh.state.counted[1] = (episode - 1) << 32;
        fresh.state.released = episode - 1;
        bpf_map_update_elem(&tallies, &use, &fresh, BPF_NOEXIST); /* another port may be first */
        tally = bpf_map_lookup_elem(&tallies, &use);
    }
    return tally && frame->mac == toll_mac_of(&tally->sealing, frame) ? tally : 0;
}

TOLL_INLINE int tally(struct xdp_md* context) {
    void *data, *end;
    struct packet* packet;
    struct toll_frame* frame;
    struct toll_tally* tally;
    toll_u64 episode;
    toll_u32 source;
    int whole;

    TOLL_BOUNDS(context, data, end, struct xdp_md);
    packet = packet_at(data, end, &whole);
    if (!packet || !whole || (void*)(packet + 1) > end) return XDP_PASS;
    frame = frame_of(packet);
    if (frame->kind != toll_gather || packet->target[0] != 0xff) return XDP_PASS; /* a NIC counts that one */
    source = toll_net16(frame->source);
    episode = toll_net64(frame->episode);
    tally = tally_of(frame, episode);
    if (!tally) {
        count(toll_altered);
        return XDP_DROP;
    }
    if (frame->destination != toll_net16(toll_the_switch) || tally->members > toll_counted ||
        source >= tally->members || tally->members != toll_net16(frame->step)) {
        count(toll_forged);
        return XDP_DROP;
    }
    count(toll_frames);
    /* A member that has entered this episode has left the one before: so it is over, whatever this switch has seen. */
    toll_record(&tally->state.released, episode - 1);
    if (!toll_newer(episode, toll_load(&tally->state.released))) {
        __builtin_memcpy(packet->target, packet->origin, 6);
        release(packet, tally, toll_load(&tally->state.released));
        count(toll_answered);
        return XDP_TX;
    }
    if (!toll_count(&tally->state, tally->members, source & (toll_counted - 1), episode)) return XDP_DROP;
    release(packet, tally, episode);
    count(toll_answered);
    return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST);
}

SEC("xdp")
int tally_up(struct xdp_md* context) { return tally(context); }

const char terms[] SEC("license") = "Apache-2.0";
