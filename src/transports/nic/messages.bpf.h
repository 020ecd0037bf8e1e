/* SPDX-License-Identifier: Apache-2.0
 * What a packet of a group can be made into. */
#ifndef TOLLBAR_TRANSPORTS_NIC_MESSAGES_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_MESSAGES_BPF_H

#include "packet.bpf.h"

/* Whether a frame comes from where the plan says. */
TOLL_INLINE int is_member(const struct toll_group* group, toll_u32 source, toll_u32 address) {
    return source < group->members && address_of(&group->member[source & (toll_counted - 1)]) == address;
}

/* The packet becomes the message that a step tells. */
TOLL_INLINE void tell(struct packet* packet, const struct toll_group* group, toll_u32 step, toll_u64 episode) {
    const struct toll_nic_step* told = &group->steps[step & toll_step_mask];

    write_header(packet, &told->to);
    write_frame(packet, group->rank, toll_signal, told->step.to_step, episode, 0);
}

/* The packet asks again for what a step awaits. */
TOLL_INLINE void pull(struct packet* packet, const struct toll_group* group, toll_u32 step, toll_u64 episode) {
    const struct toll_nic_step* awaited = &group->steps[step & toll_step_mask];

    write_header(packet, &awaited->from);
    write_frame(packet, group->rank, toll_pull, awaited->step.from_step, episode, 0);
}

/* The packet goes to another member, whatever step this is. */
TOLL_INLINE void say(struct packet* packet, const struct toll_group* group, toll_u32 member, enum toll_kind kind,
                     toll_u64 episode) {
    write_header(packet, &group->member[member & (toll_counted - 1)]);
    write_frame(packet, group->rank, kind, 0, episode, 0);
}

enum urgency { in_time, overdue };

/* To whoever counts. A switch is told of how many; a card is asked to look for who is absent once this is overdue. */
TOLL_INLINE void gather(struct packet* packet, const struct toll_group* group, enum urgency urgency, toll_u64 episode) {
    const int counted_by_switch = group->shape == toll_switch;

    write_header(packet, counted_by_switch ? &group->broadcast : &group->member[group->root & (toll_counted - 1)]);
    write_frame(packet, group->rank, toll_gather, counted_by_switch ? group->ranks : urgency, episode, 0);
}

TOLL_INLINE void release(struct packet* packet, const struct toll_group* group, toll_u64 episode) {
    write_header(packet, &group->broadcast);
    write_frame(packet, group->rank, toll_release, 0, episode, 0);
}

TOLL_INLINE void note(struct packet* packet, const struct toll_group* group, toll_u64 episode) {
    write_header(packet, &group->note);
    write_frame(packet, group->rank, toll_note, 0, episode, 0);
    count(toll_noted);
}

/* The lowest member that is not counted in; its own card tells whether it has entered. */
TOLL_INLINE toll_u32 uncounted(const struct toll_group* group, toll_u64 episode) {
    for (toll_u32 member = 0; member < toll_counted; ++member) {
        const toll_u64 word = toll_load(&group->state.counted[member >> 5]);

        if (member >= group->ranks) break;
        if ((toll_u32)(word >> 32) != (toll_u32)episode || !(word >> (member & 31) & 1)) return member;
    }
    return group->rank;
}

#endif
