/* SPDX-License-Identifier: Apache-2.0
 * What a packet of a group can be made into. */
#ifndef TOLLBAR_TRANSPORTS_NIC_MESSAGES_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_MESSAGES_BPF_H

#include "packet.bpf.h"

/* The interface's own address now, kept by the daemon. */
toll_u8 own_hardware[8];

TOLL_INLINE void address_to(struct packet* packet, const struct toll_header* header) {
    write_header(packet, header);
    __builtin_memcpy(packet->origin, own_hardware, 6);
}

/* Whether there is a header towards that rank. */
TOLL_INLINE int is_member(const struct toll_group* group, toll_u32 source) { return source < group->members; }

/* Where a peer is now: its hardware may be another than when this member joined, and a host without a card has a port
 * that only its frames show. Called for frames to this member alone, which nobody else gets and could repeat. */
TOLL_INLINE void learn(struct toll_header* header, const struct packet* packet) {
    struct packet* known = (struct packet*)header;

    if (packet->from != known->to || (packet->origin[0] & 1)) return;
    if (known->to_port != packet->from_port) known->to_port = packet->from_port;
    for (int i = 0; i < 3; ++i)
        if (((toll_u16*)known->target)[i] != ((const toll_u16*)packet->origin)[i])
            ((toll_u16*)known->target)[i] = ((const toll_u16*)packet->origin)[i];
}

/* In this use of the group. */
TOLL_INLINE void speak(struct packet* packet, const struct toll_group* group, toll_u32 destination, enum toll_kind kind,
                       toll_u16 step, toll_u64 episode) {
    frame_of(packet)->incarnation = toll_load(&group->incarnation);
    write_frame(packet, &group->sealing, group->rank, destination, kind, step, toll_net64(episode));
}

/* As somebody who is not admitted yet. */
TOLL_INLINE void speak_before(struct packet* packet, const struct toll_group* group, toll_u32 destination,
                              enum toll_kind kind, toll_u64 episode) {
    frame_of(packet)->incarnation = group->drawn;
    write_frame(packet, &group->by_drawn, group->rank, destination, kind, toll_before_admission, toll_net64(episode));
}

/* The packet becomes the message that a step tells. */
TOLL_INLINE void tell(struct packet* packet, const struct toll_group* group, toll_u32 step, toll_u64 episode) {
    const struct toll_nic_step* told = &group->steps[step & toll_step_mask];

    address_to(packet, &told->to);
    speak(packet, group, told->step.to, toll_signal, told->step.to_step, episode);
}

/* The packet asks again for what a step awaits. */
TOLL_INLINE void pull(struct packet* packet, const struct toll_group* group, toll_u32 step, toll_u64 episode) {
    const struct toll_nic_step* awaited = &group->steps[step & toll_step_mask];

    address_to(packet, &awaited->from);
    speak(packet, group, awaited->step.from, toll_pull, awaited->step.from_step, episode);
}

/* The packet goes to another member, whatever step this is. */
TOLL_INLINE void say(struct packet* packet, const struct toll_group* group, toll_u32 member, enum toll_kind kind,
                     toll_u64 episode) {
    address_to(packet, &group->member[member & (toll_counted - 1)]);
    speak(packet, group, member, kind, 0, episode);
}

/* The packet asks to be admitted. */
TOLL_INLINE void enrol(struct packet* packet, const struct toll_group* group) {
    address_to(packet, &group->admits);
    speak_before(packet, group, toll_admits_of(group->rank), toll_join, 0);
}

enum urgency { in_time, overdue };

/* To whoever counts. A switch is told of how many; a card is asked to look for who is absent once this is overdue. */
TOLL_INLINE void gather(struct packet* packet, const struct toll_group* group, enum urgency urgency, toll_u64 episode) {
    const int by_switch = group->shape == toll_switch;

    address_to(packet, by_switch ? &group->broadcast : &group->member[group->root & (toll_counted - 1)]);
    speak(packet, group, by_switch ? toll_the_switch : group->root, toll_gather, by_switch ? group->ranks : urgency,
          episode);
}

TOLL_INLINE void release(struct packet* packet, const struct toll_group* group, toll_u64 episode) {
    address_to(packet, &group->broadcast);
    speak(packet, group, toll_everybody, toll_release, 0, episode);
}

TOLL_INLINE void note(struct packet* packet, const struct toll_group* group) {
    write_header(packet, &group->note);
    frame_of(packet)->kind = toll_note; /* its coming is all that it says */
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
