/* SPDX-License-Identifier: Apache-2.0
 * How members agree on which use of the group this is. Rank 0 drew its number; every other rank is told it once, by the
 * rank that admits it, in an answer to a number that it drew itself; and it is admitted when it has answered with the
 * incarnation, for its question may be an old one. So a frame of an earlier use is never believed, and
 * a process that comes as a rank again never passes what the first one has entered. */
#ifndef TOLLBAR_TRANSPORTS_NIC_ADMISSION_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_ADMISSION_BPF_H

#include "due.bpf.h"

TOLL_INLINE int is_of_use(const struct toll_group* group, const struct toll_frame* frame, toll_u64 incarnation) {
    return incarnation && frame->incarnation == incarnation && frame->digest == group->who.digest;
}

TOLL_INLINE void here(struct toll_group* group, toll_u32 source, toll_u64 episode) {
    toll_record(&group->heard[source & (toll_counted - 1)], episode);
    toll_record(&group->answers, toll_load(&group->answers) + 1); /* two at once may count as one */
}

/* In the name of whom the frame's number belongs to; `episode` as it is in a frame. */
TOLL_INLINE int reply(struct packet* packet, const struct toll_group* group, const struct toll_sip* sealing,
                      enum toll_kind kind, toll_u16 step, toll_u64 episode) {
    const toll_u32 to = toll_net16(frame_of(packet)->source);

    turn_round(packet);
    write_frame(packet, sealing, group->rank, to, kind, step, episode);
    return answered();
}

TOLL_INLINE int refuse(struct packet* packet, struct toll_group* group, const struct toll_sip* sealing,
                       enum toll_refusal why) {
    const toll_u32 other = toll_net16(frame_of(packet)->source);

    /* Before it is admitted itself, a member would take that for what keeps it out. */
    if (toll_load(&group->incarnation)) toll_swap(&group->refusal, 0, (toll_u64)other << 8 | why);
    return reply(packet, group, sealing, toll_refuse, why, 0);
}

TOLL_INLINE int admit(struct packet* packet, struct toll_group* group, const struct toll_sip* sealing,
                      toll_u64 incarnation) {
    const struct toll_frame* frame = frame_of(packet);
    const toll_u32 place = toll_admitted_as(group->rank, toll_net16(frame->source));

    if (place >= toll_admits || toll_net16(frame->source) >= group->ranks) return dropped(toll_forged);
    if (frame->digest != group->who.digest) return refuse(packet, group, sealing, toll_other_plan);
    if (!incarnation) return XDP_DROP; /* it asks again */
    if (frame->episode != incarnation) return reply(packet, group, sealing, toll_offer, 0, incarnation);
    if (!toll_admit(&group->admitted[place & (toll_admits - 1)], frame->incarnation))
        return refuse(packet, group, sealing, toll_used_before);
    return reply(packet, group, sealing, toll_welcome, 0, incarnation);
}

/* Now others can be heard. What the host has entered before is told now. */
TOLL_INLINE int begin(struct packet* packet, struct toll_group* group, toll_u64 incarnation) {
    const struct toll_sip sealing = toll_sealing(&group->who, incarnation, group->who.digest);
    toll_u64 place;
    toll_u32 step;

    group->sealing = sealing;
    place = toll_begin(&group->incarnation, incarnation, &group->state);
    step = toll_step_of(place);
    if (step >= group->program.steps) return XDP_DROP;
    if (group->shape == toll_plan)
        return emit(packet, group, group->program.tells & ((2U << (step & toll_step_mask)) - 1),
                    toll_episode_of(place));
    gather(packet, group, in_time, toll_episode_of(place));
    return answered();
}

/* A frame of another number than this use of the group has, or before there is one. */
TOLL_INLINE int introduced(struct packet* packet, struct toll_group* group, toll_u64 incarnation) {
    const struct toll_frame* frame = frame_of(packet);
    const struct toll_sip sealing = toll_sealing(&group->who, frame->incarnation, frame->digest);
    const toll_u32 source = toll_net16(frame->source);
    const toll_u64 now = toll_episode_of(toll_load(&group->state.at));
    const int ours = frame->digest == group->who.digest;
    const int answers = ours && frame->incarnation == group->drawn;
    const int from_above = !incarnation && group->rank && source == toll_admits_of(group->rank);

    if (frame->mac != mac_of(&sealing, frame)) return dropped(toll_altered);
    if (toll_net16(frame->destination) != group->rank) return dropped(toll_stale);
    if (from_above) learn(&group->admits, packet);
    switch (frame->kind) {
        case toll_join: return admit(packet, group, &sealing, incarnation);
        case toll_call:
            if (!from_above) break;
            enrol(packet, group);
            frame_of(packet)->digest = group->who.digest;
            return answered();
        case toll_offer:
            if (!from_above || !answers) break;
            return reply(packet, group, &group->by_drawn, toll_join, 0, frame->episode);
        case toll_welcome:
            if (!from_above || !answers || !frame->episode) break;
            return begin(packet, group, frame->episode);
        case toll_refuse:
            if (!from_above || !answers) break;
            toll_swap(&group->refusal, 0, (toll_u64)source << 8 | (toll_net16(frame->step) & 0xff));
            return XDP_DROP;
        case toll_ask:
            if (!ours || (incarnation && toll_net16(frame->step) != toll_before_admission)) break;
            return reply(packet, group, &sealing, toll_here, toll_before_admission, toll_net64(now));
        case toll_here:
            if (!answers || !is_member(group, source) || toll_newer(toll_net64(frame->episode), now)) break;
            here(group, source, toll_net64(frame->episode));
            return XDP_DROP;
        default: break;
    }
    return dropped(toll_stale);
}

#endif
