/* SPDX-License-Identifier: Apache-2.0
 * A NIC that runs barriers: `receive` handles every frame before the host sees it, `arrive` handles what the host
 * sends, `proceed` sends what one frame cannot carry. The meaning of frames is in wire/protocol.h, and the program that
 * the NIC runs is data in group.h. */
#include "messages.bpf.h"

/* At the NIC that counts. */
TOLL_INLINE int count_in(struct packet* packet, struct toll_group* group, toll_u32 source, toll_u64 episode) {
    struct toll_state* state = &group->state;
    const toll_u64 released = toll_load(&state->released);
    const int overdue_there = frame_of(packet)->step != toll_net16(in_time);
    toll_u64 over = episode;
    toll_u32 due, absent;

    if (toll_newer(episode, released + 1)) return dropped(toll_untimely);
    if (!toll_newer(episode, released)) {
        send(packet, group, source, toll_release, 0, released);
        return answered();
    }
    if (toll_count(state, group->self.ranks, source, episode)) {
        toll_record(&state->signalled[0], episode);
        due = toll_advance(state, &group->program, episode, &over);
        if (due & TOLL_OVER && owner_sleeps(group, episode))
            return leave_to_proceed(packet, group, with_release, episode, TOLL_OVER);
        release(packet, group, episode);
        return answered();
    }
    if (!overdue_there) return XDP_DROP;
    absent = uncounted(group, episode);
    if (absent == group->self.rank || absent == source) return XDP_DROP;
    send(packet, group, absent, toll_pull, 0, episode);
    return answered();
}

/* Another rank's word that it has entered. */
TOLL_INLINE void note_presence(struct toll_group* group, toll_u32 source, toll_u64 episode) {
    toll_record(&group->entered[source & (toll_counted - 1)], episode);
    toll_record(&group->answers, toll_load(&group->answers) + 1); /* two at once may count as one */
}

/* The header towards the source of a sound frame, as far as this member keeps one. */
TOLL_INLINE struct toll_header* source_of(struct toll_group* group, const struct toll_frame* frame,
                                          enum toll_verdict verdict) {
    struct toll_nic_step* ours = &group->steps[toll_net16(frame->step) & toll_step_mask];

    if (verdict == toll_to_answer || verdict == toll_to_count) return towards(group, toll_net16(frame->source));
    switch (frame->kind) {
        case toll_signal: return &ours->from;
        case toll_pull: return group->self.shape == toll_plan ? &ours->to : 0;
        case toll_call:
        case toll_offer:
        case toll_welcome: return &group->admits;
        default: return 0;
    }
}

/* Advances as far as the awaits allow, and sends what is due then. */
TOLL_INLINE int go_on(struct packet* packet, struct toll_group* group, const struct toll_reply* reply) {
    toll_u64 episode = reply->proof;
    toll_u32 due;

    if (reply->verdict == toll_to_begin) {
        due = toll_begin_at(&group->self, toll_net64(reply->episode), &group->state, &group->program, &episode);
        if (group->self.shape != toll_plan) {
            if (toll_step_of(toll_load(&group->state.at)) >= group->program.steps) return XDP_DROP;
            gather(packet, group, in_time, episode);
            return answered();
        }
    } else {
        due = toll_advance(&group->state, &group->program, reply->proof, &episode);
    }
    if (!due && reply->verdict == toll_not_yet) {
        /* If a message to this member was lost, its own host may be too busy to notice. */
        const toll_u64 at = toll_load(&group->state.at);
        const toll_u32 step = toll_step_of(at);

        if (toll_episode_of(at) != reply->proof || step >= group->program.steps) return XDP_DROP;
        if (!(group->program.awaits >> (step & toll_step_mask) & 1)) return XDP_DROP;
        pull(packet, group, step, reply->proof);
        return answered();
    }
    return emit(packet, group, due, episode);
}

TOLL_INLINE int hear(struct packet* packet, struct toll_group* group) {
    const struct toll_frame* frame = frame_of(packet);
    const toll_u32 source = toll_net16(frame->source), step = toll_net16(frame->step);
    const struct toll_step* ours = &group->steps[step & toll_step_mask].step;
    const int has_step = step < group->program.steps;
    const struct toll_subject subject = {
        has_step ? ours->from : TOLLBAR_NOBODY, has_step ? ours->to : TOLLBAR_NOBODY,
        &group->state.signalled[step & toll_step_mask],
        &group->admitted[toll_admitted_as(group->self.rank, source) & (toll_admits - 1)]};
    const struct toll_reply reply = toll_hear(&group->self, frame, toll_now_at(toll_load(&group->state.at)), subject);
    struct toll_header* known;

    if (reply.verdict <= toll_stale) return dropped(reply.verdict);
    if (reply.verdict == toll_misaddressed) return dropped(toll_forged);
    count(toll_frames);
    known = source_of(group, frame, reply.verdict);
    if (known) learn(known, packet);
    switch (reply.verdict) {
        case toll_unheeded: return XDP_DROP;
        case toll_to_repeat: signal(packet, group, step, reply.episode); return answered();
        case toll_to_answer: send(packet, group, source, reply.kind, reply.step, reply.episode); return answered();
        case toll_to_count: return count_in(packet, group, source, reply.proof);
        case toll_to_gather: gather(packet, group, in_time, reply.episode); return answered();
        case toll_to_join: join(packet, group); return answered();
        case toll_to_reply:
            turn_round(packet);
            write_frame(packet, &reply.sealing, group->self.rank, source, reply.kind, reply.step, reply.episode);
            return answered();
        case toll_present: note_presence(group, source, toll_net64(frame->episode)); return XDP_DROP;
        case toll_known: count(toll_repeated); break;
        default: break;
    }
    if (frame->kind == toll_here) note_presence(group, source, reply.proof);
    return go_on(packet, group, &reply);
}

/* Anybody may ask whether a NIC works: the one answer that needs no group and no key. */
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
    int whole;

    TOLL_BOUNDS(context, data, end, struct xdp_md);
    packet = packet_at(data, end, &whole);
    if (!packet) return XDP_PASS;
    if (!whole) return dropped(toll_truncated);
    if ((void*)(packet + 1) > end) return XDP_PASS;
    if (frame_of(packet)->name == 0 && frame_of(packet)->kind == toll_ask) return echo(packet);
    group = group_of(frame_of(packet));
    if (!group) return dropped(toll_strange);
    if (frame_of(packet)->group != group->self.who.group) return dropped(toll_altered);
    return hear(packet, group);
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
    if (!group || frame_of(packet)->mac != toll_mac_of(&group->self.sealing, frame_of(packet))) return TC_ACT_SHOT;
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
        signal(packet, group, step, episode);
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
TOLL_INLINE int enter(struct __sk_buff* context, struct packet* packet, struct toll_group* group, toll_u64 episode) {
    struct toll_state* state = &group->state;
    toll_u64 now = episode;
    toll_u32 due;

    if (!toll_enter(state, &group->program, episode)) return TC_ACT_SHOT;
    count(toll_arrivals);
    if (!toll_load(&group->self.incarnation)) { /* what is due is sent on admission: see toll_begin_at() */
        join(packet, group);
        return TC_ACT_OK;
    }
    if (group->self.shape != toll_plan) {
        if (group->self.shape == toll_switch || group->self.rank != 0) {
            gather(packet, group, in_time, episode);
            return TC_ACT_OK;
        }
        if (!toll_count(state, group->self.ranks, 0, episode)) return TC_ACT_SHOT;
        toll_record(&state->signalled[0], episode);
        toll_advance(state, &group->program, episode, &now);
        release(packet, group, episode);
        return TC_ACT_OK;
    }
    due = (group->program.signals & 1) | toll_advance(state, &group->program, episode, &now);
    due &= ~TOLL_OVER;
    EACH_STEP(step) {
        if (!(due >> step & 1)) continue;
        int whole;
        packet = packet_of(context, &whole);
        if (!packet) break;
        signal(packet, group, step, episode);
        due &= ~(1U << step);
        if (!due) return TC_ACT_OK;
        send_copy(context, group);
    }
    return TC_ACT_SHOT;
}

/* The host has waited for long. */
TOLL_INLINE int ask_again(struct packet* packet, struct toll_group* group, toll_u64 episode) {
    const toll_u64 at = toll_load(&group->state.at);
    const toll_u32 step = toll_step_of(at);
    toll_u32 absent;

    if (toll_episode_of(at) != episode || step >= group->program.steps) return TC_ACT_SHOT;
    if (!toll_load(&group->self.incarnation)) {
        join(packet, group);
    } else if (group->self.shape == toll_plan) {
        pull(packet, group, step, episode);
    } else if (group->self.shape == toll_star && group->self.rank == 0) {
        absent = uncounted(group, episode);
        if (absent == 0) return TC_ACT_SHOT;
        send(packet, group, absent, toll_pull, 0, episode);
    } else {
        gather(packet, group, overdue, episode);
    }
    return TC_ACT_OK;
}

/* The host wants to know whether a member has entered. */
TOLL_INLINE int ask(struct packet* packet, struct toll_group* group, toll_u32 member, toll_u64 episode) {
    if (member >= group->self.members) return TC_ACT_SHOT;
    address_to(packet, towards(group, member));
    if (toll_load(&group->self.incarnation))
        write(packet, group, member, toll_ask, 0, episode);
    else
        write_before(packet, group, member, toll_ask, toll_before_admission, episode);
    return TC_ACT_OK;
}

/* The host has joined: it asks to be admitted, and offers that to others. */
TOLL_INLINE int enrol(struct packet* packet, struct toll_group* group, toll_u32 member) {
    const int admitted = toll_load(&group->self.incarnation) != 0;

    if (admitted == (member == group->self.rank) || member >= group->self.members) return TC_ACT_SHOT;
    if (admitted)
        send(packet, group, member, toll_call, 0, 0);
    else
        join(packet, group);
    return TC_ACT_OK;
}

/* A host's frames to its NIC are sealed by the number that this member drew. Everything else passes: others cannot
 * seal, so their frames are dropped on arrival. */
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
    if (frame_of(packet)->incarnation != group->self.drawn || frame_of(packet)->digest != group->self.who.digest ||
        frame_of(packet)->mac != toll_mac_of(&group->self.by_drawn, frame_of(packet))) {
        count(toll_altered);
        return TC_ACT_SHOT;
    }
    episode = toll_net64(frame_of(packet)->episode);
    member = toll_net16(frame_of(packet)->destination);
    context->mark = toll_mark;
    switch (frame_of(packet)->kind) {
        case toll_arrive: return enter(context, packet, group, episode);
        case toll_timeout: return ask_again(packet, group, episode);
        case toll_who: return ask(packet, group, member, episode);
        case toll_enrol: return enrol(packet, group, member);
        default: break;
    }
    count(toll_forged);
    return TC_ACT_SHOT;
}

const char terms[] SEC("license") = "Apache-2.0";
