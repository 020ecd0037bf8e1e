/* SPDX-License-Identifier: Apache-2.0
 * A card that runs barriers: `receive` handles every frame before the host sees it, `arrive` handles what the host
 * sends, `proceed` sends what one frame cannot carry. Which peers are told and awaited is data: see group.h. */
#include "admission.bpf.h"
#include "echo.bpf.h"

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
            leave_to_proceed(packet, group, with_release, episode, TOLL_OVER);
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

/* Handles a sound frame of this use of a known group; its source must agree with the plan. */
TOLL_INLINE int handle(struct packet* packet, struct toll_group* group) {
    const struct toll_frame* frame = frame_of(packet);
    const toll_u32 source = toll_net16(frame->source), destination = toll_net16(frame->destination),
                   step = toll_net16(frame->step);
    const toll_u64 episode = toll_net64(frame->episode), now = toll_episode_of(toll_load(&group->state.at));
    struct toll_nic_step* ours = &group->steps[step & toll_step_mask];

    if (destination != group->rank && (frame->kind != toll_release || destination != toll_everybody))
        return dropped(toll_forged);
    if (toll_newer(episode, now + 1)) return dropped(toll_untimely);
    switch (frame->kind) {
        case toll_signal:
            if (step >= group->program.steps || source != ours->step.from) break;
            learn(&ours->from, packet);
            return told(packet, group, step, episode);
        case toll_pull:
            if (group->shape == toll_plan) {
                if (step >= group->program.steps || source != ours->step.to) break;
                learn(&ours->to, packet);
            } else if (source != group->root) {
                break;
            }
            return pulled(packet, group, step, episode);
        case toll_gather:
            if (group->shape != toll_star || group->rank != group->root || !is_member(group, source)) break;
            learn(&group->member[source & (toll_counted - 1)], packet);
            return gathered(packet, group, source, episode);
        case toll_release:
            if (source != (group->shape == toll_switch ? toll_the_switch : group->root)) break;
            if (group->shape == toll_plan || toll_newer(episode, now)) break;
            return told(packet, group, 0, episode);
        case toll_ask:
            if (!is_member(group, source)) break;
            learn(&group->member[source & (toll_counted - 1)], packet);
            say(packet, group, source, toll_here, now);
            return answered();
        case toll_here:
            if (!is_member(group, source)) break;
            here(group, source, episode);
            return XDP_DROP;
        case toll_leave: /* from a host without a card */
            if (!is_member(group, source)) break;
            return go_on(packet, group, episode + 1);
        default: break;
    }
    return dropped(toll_forged);
}

/* Anybody may ask whether a card works: the one answer that needs no group and no key. */
TOLL_INLINE int echo(struct packet* packet) {
    if (!is_between_two(packet)) return dropped(toll_forged);
    turn_round(packet);
    frame_of(packet)->kind = toll_here;
    return answered();
}

SEC("xdp")
int receive(struct xdp_md* context) {
    void *data, *end;
    struct packet* packet;
    struct toll_group* group;
    toll_u64 incarnation;
    int whole;

    TOLL_BOUNDS(context, data, end, struct xdp_md);
    packet = packet_at(data, end, &whole);
    if (!packet) return XDP_PASS;
    if (!whole) return dropped(toll_truncated);
    if ((void*)(packet + 1) > end) return XDP_PASS;
    if (frame_of(packet)->name == 0 && frame_of(packet)->kind == toll_ask) return echo(packet);
    group = group_of(frame_of(packet));
    if (!group) return dropped(toll_strange);
    if (frame_of(packet)->group != group->who.group) return dropped(toll_altered);
    incarnation = toll_load(&group->incarnation);
    if (!is_of_use(group, frame_of(packet), incarnation)) return introduced(packet, group, incarnation);
    if (frame_of(packet)->mac != mac_of(&group->sealing, frame_of(packet))) return dropped(toll_altered);
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
    if (!group || frame_of(packet)->mac != mac_of(&group->sealing, frame_of(packet))) return TC_ACT_SHOT;
    due = due_in(frame_of(packet));
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
    note(packet, group);
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
    if (!toll_load(&group->incarnation)) { /* what is due is told by whoever is admitted: see begin() */
        enrol(packet, group);
        return TC_ACT_OK;
    }
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
    if (!toll_load(&group->incarnation)) {
        enrol(packet, group);
    } else if (group->shape == toll_plan) {
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

/* The host wants to know who has entered. */
TOLL_INLINE int asked(struct packet* packet, struct toll_group* group, toll_u32 member, toll_u64 episode) {
    if (!is_member(group, member)) return TC_ACT_SHOT;
    if (toll_load(&group->incarnation)) {
        say(packet, group, member, toll_ask, episode);
    } else {
        address_to(packet, &group->member[member & (toll_counted - 1)]);
        speak_before(packet, group, member, toll_ask, episode);
    }
    return TC_ACT_OK;
}

/* The host has joined: it asks to be admitted, and offers that to others. */
TOLL_INLINE int enrolled(struct packet* packet, struct toll_group* group, toll_u32 member) {
    const int admitted = toll_load(&group->incarnation) != 0;

    if (admitted == (member == group->rank) || !is_member(group, member)) return TC_ACT_SHOT;
    if (admitted)
        say(packet, group, member, toll_call, 0);
    else
        enrol(packet, group);
    return TC_ACT_OK;
}

/* What the host says to its card is sealed by the number that this member drew. Everything else passes: others cannot
 * seal, so what they send is dropped where it arrives. */
SEC("tc")
int arrive(struct __sk_buff* context) {
    int whole;
    struct packet* packet = packet_of(context, &whole);
    struct toll_group* group;
    toll_u64 episode;
    toll_u32 member;

    if (!packet || !whole || context->mark == toll_mark || frame_of(packet)->kind < toll_arrive) return TC_ACT_UNSPEC;
    group = group_of(frame_of(packet));
    if (!group) return TC_ACT_UNSPEC;
    if (frame_of(packet)->incarnation != group->drawn || frame_of(packet)->digest != group->who.digest ||
        frame_of(packet)->mac != mac_of(&group->by_drawn, frame_of(packet))) {
        count(toll_altered);
        return TC_ACT_SHOT;
    }
    episode = toll_net64(frame_of(packet)->episode);
    member = toll_net16(frame_of(packet)->destination);
    context->mark = toll_mark;
    switch (frame_of(packet)->kind) {
        case toll_arrive: return entered(context, packet, group, episode);
        case toll_timeout: return awaited(packet, group, episode);
        case toll_who: return asked(packet, group, member, episode);
        case toll_enrol: return enrolled(packet, group, member);
        default: break;
    }
    count(toll_forged);
    return TC_ACT_SHOT;
}

const char terms[] SEC("license") = "Apache-2.0";
