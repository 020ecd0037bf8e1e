/* SPDX-License-Identifier: Apache-2.0
 * The messages into which a packet of a group can be made, and how a NIC sends what it owes when its group has moved
 * on. */
#ifndef TOLLBAR_TRANSPORTS_NIC_MESSAGES_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_MESSAGES_BPF_H

#include "groups.bpf.h"

/* The interface's own address now, kept by the daemon. */
toll_u8 own_hardware[8];

TOLL_INLINE void address_to(struct packet* packet, const struct toll_header* header) {
    write_header(packet, header);
    __builtin_memcpy(packet->origin, own_hardware, 6);
}

/* The header towards a rank below self.members. */
TOLL_INLINE struct toll_header* towards(struct toll_group* group, toll_u32 member) {
    return &group->member[member & (toll_counted - 1)];
}

/* The address of a peer now: its hardware may be another than when this member joined, and a host without a NIC has a
 * port that only its frames show. Called for frames to this member alone, which nobody else gets and could repeat. */
TOLL_INLINE void learn(struct toll_header* header, const struct packet* packet) {
    struct packet* known = (struct packet*)header;

    if (packet->from != known->to || (packet->origin[0] & 1)) return;
    if (known->to_port != packet->from_port) known->to_port = packet->from_port;
    for (int i = 0; i < 3; ++i)
        if (((toll_u16*)known->target)[i] != ((const toll_u16*)packet->origin)[i])
            ((toll_u16*)known->target)[i] = ((const toll_u16*)packet->origin)[i];
}

/* In this use of the group. */
TOLL_INLINE void write(struct packet* packet, const struct toll_group* group, toll_u32 destination, enum toll_kind kind,
                       toll_u16 step, toll_u64 episode) {
    frame_of(packet)->incarnation = toll_load(&group->self.incarnation);
    write_frame(packet, &group->self.sealing, group->self.rank, destination, kind, step, episode);
}

/* As a member that is not admitted yet. */
TOLL_INLINE void write_before(struct packet* packet, const struct toll_group* group, toll_u32 destination,
                              enum toll_kind kind, toll_u16 step, toll_u64 episode) {
    frame_of(packet)->incarnation = group->self.drawn;
    frame_of(packet)->digest = group->self.who.digest;
    write_frame(packet, &group->self.by_drawn, group->self.rank, destination, kind, step, episode);
}

/* The packet becomes the message of a step. */
TOLL_INLINE void signal(struct packet* packet, const struct toll_group* group, toll_u32 step, toll_u64 episode) {
    const struct toll_nic_step* ours = &group->steps[step & toll_step_mask];

    address_to(packet, &ours->to);
    write(packet, group, ours->step.to, toll_signal, ours->step.to_step, episode);
}

/* The packet asks again for the signal that a step awaits. */
TOLL_INLINE void pull(struct packet* packet, const struct toll_group* group, toll_u32 step, toll_u64 episode) {
    const struct toll_nic_step* ours = &group->steps[step & toll_step_mask];

    address_to(packet, &ours->from);
    write(packet, group, ours->step.from, toll_pull, ours->step.from_step, episode);
}

/* The packet goes to a member, whatever step this is. */
TOLL_INLINE void send(struct packet* packet, struct toll_group* group, toll_u32 member, enum toll_kind kind,
                      toll_u16 step, toll_u64 episode) {
    address_to(packet, towards(group, member));
    write(packet, group, member, kind, step, episode);
}

/* The packet asks to be admitted. */
TOLL_INLINE void join(struct packet* packet, const struct toll_group* group) {
    address_to(packet, &group->admits);
    write_before(packet, group, toll_admits_of(group->self.rank), toll_join, 0, 0);
}

enum urgency { in_time, overdue };

/* To the switch or to rank 0's NIC, which count. A switch gets the number of ranks; a NIC is asked to look for a
 * missing one once this is overdue. */
TOLL_INLINE void gather(struct packet* packet, struct toll_group* group, enum urgency urgency, toll_u64 episode) {
    const int by_switch = group->self.shape == toll_switch;

    address_to(packet, by_switch ? &group->broadcast : towards(group, 0));
    write(packet, group, by_switch ? toll_the_switch : 0, toll_gather, by_switch ? group->self.ranks : urgency,
          episode);
}

TOLL_INLINE void release(struct packet* packet, const struct toll_group* group, toll_u64 episode) {
    address_to(packet, &group->broadcast);
    write(packet, group, toll_everybody, toll_release, 0, episode);
}

TOLL_INLINE void note(struct packet* packet, const struct toll_group* group) {
    write_header(packet, &group->note);
    frame_of(packet)->kind = toll_note; /* its coming is all that it says */
    count(toll_noted);
}

/* The lowest member that is not counted in; its own NIC knows whether it has entered. */
TOLL_INLINE toll_u32 uncounted(const struct toll_group* group, toll_u64 episode) {
    for (toll_u32 member = 0; member < toll_counted; ++member) {
        const toll_u64 word = toll_load(&group->state.counted[member >> 5]);

        if (member >= group->self.ranks) break;
        if ((toll_u32)(word >> 32) != (toll_u32)episode || !(word >> (member & 31) & 1)) return member;
    }
    return group->self.rank;
}

/* In the step of a frame that `receive` leaves to `proceed`. */
enum continuation { without_release, with_release };

/* Only bounds the loops over steps that are due. */
#define EACH_STEP(step) for (toll_u32 step = 0; step < toll_nic_steps; ++step)

TOLL_INLINE int leave_to_proceed(struct packet* packet, const struct toll_group* group, enum continuation how,
                                 toll_u64 episode, toll_u32 due) {
    frame_of(packet)->incarnation = toll_load(&group->self.incarnation);
    write_frame(packet, &group->self.sealing, due >> 16, due & 0xffff, toll_continue, how, episode);
    count(toll_continued);
    return XDP_PASS;
}

TOLL_INLINE toll_u32 due_in(const struct toll_frame* frame) {
    return (toll_u32)toll_net16(frame->source) << 16 | toll_net16(frame->destination);
}

/* Sends what is due: at once where that is one message or one wake-up, through `proceed` where it is more. */
TOLL_INLINE int emit(struct packet* packet, const struct toll_group* group, toll_u32 due, toll_u64 episode) {
    const int wakes = due & TOLL_OVER && owner_sleeps(group, episode);
    const toll_u32 steps = due & ~TOLL_OVER;

    if (!steps) {
        if (!wakes) return XDP_DROP;
        note(packet, group);
        return XDP_PASS;
    }
    if (!wakes && !(steps & (steps - 1))) {
        EACH_STEP(step) {
            if (!(steps >> step & 1)) continue;
            signal(packet, group, step, episode);
            return answered();
        }
    }
    return leave_to_proceed(packet, group, without_release, episode, steps | (wakes ? TOLL_OVER : 0));
}

#endif
