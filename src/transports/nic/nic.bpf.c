/* SPDX-License-Identifier: Apache-2.0
 * A card that runs barriers: `receive` handles every frame before the host sees it, `arrive` handles what the host
 * sends, `proceed` sends what one frame cannot carry. Which peers are told and awaited is data: see group.h. */
#include "messages.bpf.h"

/* In the step of a frame that `receive` leaves to `proceed`. */
enum continuation { without_release, with_release };

/* Only bounds the loops over steps that are due. */
#define EACH_STEP(step) for (toll_u32 step = 0; step < toll_nic_steps; ++step)

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

/* A map of numbers: one of maps would keep whoever changes it waiting for all processors. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, toll_groups);
    __type(key, struct toll_name);
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

TOLL_INLINE struct toll_group* group_of(const struct toll_frame* frame) {
    const struct toll_name name = {.key = frame->key, .group = frame->group};
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

TOLL_INLINE int dropped(enum toll_statistic why) {
    count(why);
    return XDP_DROP;
}

/* Sends what is due: at once where that is one message or one wake-up, through `proceed` where it is more. */
TOLL_INLINE int emit(struct packet* packet, const struct toll_group* group, toll_u32 due, toll_u64 episode) {
    const int wakes = due & TOLL_OVER && owner_sleeps(group, episode);
    const toll_u32 steps = due & ~TOLL_OVER;

    if (!steps) {
        if (!wakes) return XDP_DROP;
        note(packet, group, episode);
        return XDP_PASS;
    }
    if (!wakes && !(steps & (steps - 1))) {
        EACH_STEP(step) {
            if (!(steps >> step & 1)) continue;
            tell(packet, group, step, episode);
            return answered();
        }
    }
    count(toll_continued);
    write_frame(packet, group->rank, toll_continue, without_release, episode, steps | (wakes ? TOLL_OVER : 0));
    return XDP_PASS;
}

TOLL_INLINE int go_on(struct packet* packet, struct toll_group* group, toll_u64 proof) {
    toll_u64 episode = proof;
    const toll_u32 due = toll_advance(&group->state, &group->program, proof, &episode);

    return emit(packet, group, due, episode);
}

TOLL_INLINE int told(struct packet* packet, struct toll_group* group, toll_u32 step, toll_u64 episode) {
    toll_word* const newest = &group->state.told[step & toll_step_mask];

    if (toll_newer(episode, toll_load(newest)))
        toll_record(newest, episode);
    else
        count(toll_known);
    return go_on(packet, group, episode);
}

/* A peer awaits what a step of this member tells. */
TOLL_INLINE int pulled(struct packet* packet, struct toll_group* group, toll_u32 step, toll_u64 episode) {
    toll_u64 after = episode, place = toll_load(&group->state.at);
    toll_u32 due;

    if (group->shape != toll_plan) { /* the card that counts wants to know */
        if (toll_newer(episode, toll_episode_of(place))) return XDP_DROP;
        gather(packet, group, in_time, episode);
        return answered();
    }
    if (!toll_newer(toll_place(episode, step), place)) {
        tell(packet, group, step, episode);
        return answered();
    }
    due = toll_advance(&group->state, &group->program, episode, &after);
    if (due) return emit(packet, group, due, after);

    /* Not so far yet. If a message to this member was lost, its own host may be too busy to notice. */
    place = toll_load(&group->state.at);
    step = toll_step_of(place);
    if (toll_episode_of(place) != episode || step >= group->program.steps) return XDP_DROP;
    if (!(group->program.awaits >> (step & toll_step_mask) & 1)) return XDP_DROP;
    pull(packet, group, step, episode);
    return answered();
}

/* At the card that counts. */
TOLL_INLINE int gathered(struct packet* packet, struct toll_group* group, toll_u32 source, toll_u64 episode) {
    struct toll_state* state = &group->state;
    toll_u64 over = episode;
    toll_u32 due, absent;

    if (toll_newer(episode, toll_load(&state->released) + 1)) return dropped(toll_untimely);
    if (!toll_newer(episode, toll_load(&state->released))) {
        say(packet, group, source, toll_release, toll_load(&state->released));
        return answered();
    }
    if (toll_count(state, group->ranks, source, episode)) {
        toll_record(&state->told[0], episode);
        due = toll_advance(state, &group->program, episode, &over);
        if (due & TOLL_OVER && owner_sleeps(group, episode)) {
            count(toll_continued);
            write_frame(packet, group->rank, toll_continue, with_release, episode, TOLL_OVER);
            return XDP_PASS;
        }
        release(packet, group, episode);
        return answered();
    }
    if (frame_of(packet)->step == toll_net16(in_time)) return XDP_DROP;
    absent = uncounted(group, episode);
    if (absent == group->rank || absent == source) return XDP_DROP;
    say(packet, group, absent, toll_pull, episode);
    return answered();
}

/* Handles a sound frame of a known group; `source` and the address it came from must agree with the plan. */
TOLL_INLINE int handle(struct packet* packet, struct toll_group* group) {
    const struct toll_frame* frame = frame_of(packet);
    const toll_u32 source = toll_net32(frame->source), step = toll_net16(frame->step), from = packet->from;
    const toll_u64 episode = toll_net64(frame->episode), now = toll_episode_of(toll_load(&group->state.at));
    const struct toll_nic_step* ours = &group->steps[step & toll_step_mask];

    if (toll_newer(episode, now + 1)) return dropped(toll_untimely);
    switch (frame->kind) {
        case toll_signal:
            if (step >= group->program.steps || source != ours->step.from || from != address_of(&ours->from)) break;
            return told(packet, group, step, episode);
        case toll_pull:
            if (group->shape == toll_plan) {
                if (step >= group->program.steps || source != ours->step.to || from != address_of(&ours->to)) break;
            } else if (source != group->root || !is_member(group, source, from)) {
                break;
            }
            return pulled(packet, group, step, episode);
        case toll_gather:
            if (group->shape != toll_star || group->rank != group->root || !is_member(group, source, from)) break;
            return gathered(packet, group, source, episode);
        case toll_release:
            if (group->shape == toll_plan || toll_newer(episode, now)) break;
            if (group->shape == toll_star && (source != group->root || !is_member(group, source, from))) break;
            return told(packet, group, 0, episode);
        case toll_ask:
            if (!is_member(group, source, from)) break;
            say(packet, group, source, toll_here, now);
            return answered();
        case toll_here:
            if (!is_member(group, source, from)) break;
            toll_record(&group->heard[source & (toll_counted - 1)], episode);
            toll_record(&group->answers, toll_load(&group->answers) + 1); /* two at once may count as one */
            return XDP_DROP;
        case toll_leave: /* from a host without a card */
            if (!is_member(group, source, from)) break;
            return go_on(packet, group, episode + 1);
        default: break;
    }
    return dropped(toll_forged);
}

/* Anybody may ask whether a card works: the one answer that needs no group. */
TOLL_INLINE int echo(struct packet* packet) {
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
    frame_of(packet)->kind = toll_here;
    frame_of(packet)->check = toll_net32(toll_check(frame_of(packet)));
    return answered();
}

SEC("xdp")
int receive(struct xdp_md* context) {
    void *data, *end;
    struct packet* packet;
    struct toll_group* group;
    int whole;

    TOLL_BOUNDS(context, data, end, struct xdp_md);
    packet = packet_at(data, end, &whole);
    if (!packet) return XDP_PASS;
    if (!whole) return dropped(toll_truncated);
    if ((void*)(packet + 1) > end) return XDP_PASS;
    if (frame_of(packet)->key == 0 && frame_of(packet)->kind == toll_ask)
        return frame_of(packet)->check == toll_net32(toll_check(frame_of(packet))) ? echo(packet)
                                                                                   : dropped(toll_altered);
    group = group_of(frame_of(packet));
    if (!group) {
        count(toll_strange);
        return XDP_PASS;
    }
    if (toll_inspect(frame_of(packet), group->key, group->id) != toll_sound) return dropped(toll_altered);
    count(toll_frames);
    return handle(packet, group);
}

/* One more packet like this one, with what is in it now; the packet's addresses hold no more afterwards. */
TOLL_INLINE void send_copy(struct __sk_buff* context, const struct toll_group* group) {
    context->mark = toll_mark;
    bpf_clone_redirect(context, group->interface, 0);
}

TOLL_INLINE struct packet* packet_of(struct __sk_buff* context, int* whole) {
    void *data, *end;
    struct packet* packet;

    TOLL_BOUNDS(context, data, end, struct __sk_buff);
    packet = packet_at(data, end, whole);
    return packet && (void*)(packet + 1) <= end ? packet : 0;
}

/* After `receive`, and only for frames in which it left a mask: sends the messages due, wakes the owner. */
SEC("tc")
int proceed(struct __sk_buff* context) {
    int whole;
    struct packet* packet = packet_of(context, &whole);
    struct toll_group* group;
    toll_u64 episode;
    toll_u32 due;

    if (!packet || !whole || frame_of(packet)->kind != toll_continue) return TC_ACT_UNSPEC;
    group = group_of(frame_of(packet));
    if (!group || toll_inspect(frame_of(packet), group->key, group->id) != toll_sound) return TC_ACT_SHOT;
    due = toll_net32(frame_of(packet)->mask);
    episode = toll_net64(frame_of(packet)->episode);
    if (frame_of(packet)->step == toll_net16(with_release)) {
        release(packet, group, episode);
        send_copy(context, group);
    }
    EACH_STEP(step) {
        if (!(due >> step & 1)) continue;
        packet = packet_of(context, &whole);
        if (!packet) return TC_ACT_SHOT;
        tell(packet, group, step, episode);
        due &= ~(1U << step);
        if (!due) {
            context->mark = toll_mark;
            return bpf_redirect(group->interface, 0);
        }
        send_copy(context, group);
    }
    packet = packet_of(context, &whole);
    if (!packet || !(due & TOLL_OVER)) return TC_ACT_SHOT;
    note(packet, group, episode);
    context->mark = 0;
    return TC_ACT_UNSPEC;
}

/* The host's part is posted as a frame: it leaves as the last of the messages that are due, or not at all. */
TOLL_INLINE int entered(struct __sk_buff* context, struct packet* packet, struct toll_group* group, toll_u64 episode) {
    struct toll_state* state = &group->state;
    toll_u64 now = episode;
    toll_u32 due;

    if (!toll_enter(state, &group->program, episode)) return TC_ACT_SHOT;
    count(toll_arrivals);
    if (group->shape == toll_switch || (group->shape == toll_star && group->rank != group->root)) {
        gather(packet, group, in_time, episode);
        return TC_ACT_OK;
    }
    if (group->shape == toll_star) {
        if (!toll_count(state, group->ranks, group->rank, episode)) return TC_ACT_SHOT;
        toll_record(&state->told[0], episode);
        toll_advance(state, &group->program, episode, &now);
        release(packet, group, episode);
        return TC_ACT_OK;
    }
    due = (group->program.tells & 1) | toll_advance(state, &group->program, episode, &now);
    due &= ~TOLL_OVER;
    EACH_STEP(step) {
        if (!(due >> step & 1)) continue;
        int whole;
        packet = packet_of(context, &whole);
        if (!packet) break;
        tell(packet, group, step, episode);
        due &= ~(1U << step);
        if (!due) return TC_ACT_OK;
        send_copy(context, group);
    }
    return TC_ACT_SHOT;
}

/* The host has waited for long. */
TOLL_INLINE int awaited(struct packet* packet, struct toll_group* group, toll_u64 episode) {
    const toll_u64 place = toll_load(&group->state.at);
    const toll_u32 step = toll_step_of(place);
    toll_u32 absent;

    if (toll_episode_of(place) != episode || step >= group->program.steps) return TC_ACT_SHOT;
    if (group->shape == toll_plan) {
        pull(packet, group, step, episode);
    } else if (group->shape == toll_star && group->rank == group->root) {
        absent = uncounted(group, episode);
        if (absent == group->rank) return TC_ACT_SHOT;
        say(packet, group, absent, toll_pull, episode);
    } else {
        gather(packet, group, overdue, episode);
    }
    return TC_ACT_OK;
}

SEC("tc")
int arrive(struct __sk_buff* context) {
    int whole;
    struct packet* packet = packet_of(context, &whole);
    struct toll_group* group;
    toll_u64 episode;
    toll_u32 user, member;

    if (!packet || context->mark == toll_mark) return TC_ACT_UNSPEC;
    group = group_of(frame_of(packet));
    if (!group) return TC_ACT_UNSPEC;
    user = bpf_get_socket_uid(context);
    if (!whole || (user != group->owner && user != 0) ||
        toll_inspect(frame_of(packet), group->key, group->id) != toll_sound) {
        count(toll_forged);
        return TC_ACT_SHOT;
    }
    episode = toll_net64(frame_of(packet)->episode);
    member = toll_net32(frame_of(packet)->mask);
    context->mark = toll_mark;
    switch (frame_of(packet)->kind) {
        case toll_arrive: return entered(context, packet, group, episode);
        case toll_timeout: return awaited(packet, group, episode);
        case toll_ask:
            if (member >= group->members) break;
            say(packet, group, member, toll_ask, episode);
            return TC_ACT_OK;
        default: break;
    }
    count(toll_forged);
    return TC_ACT_SHOT;
}

const char terms[] SEC("license") = "Apache-2.0";
