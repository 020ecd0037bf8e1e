/* SPDX-License-Identifier: Apache-2.0
 * What a card owes when its group has moved on. */
#ifndef TOLLBAR_TRANSPORTS_NIC_DUE_BPF_H
#define TOLLBAR_TRANSPORTS_NIC_DUE_BPF_H

#include "groups.bpf.h"
#include "messages.bpf.h"

/* In the step of a frame that `receive` leaves to `proceed`. */
enum continuation { without_release, with_release };

/* Only bounds the loops over steps that are due. */
#define EACH_STEP(step) for (toll_u32 step = 0; step < toll_nic_steps; ++step)

TOLL_INLINE void leave_to_proceed(struct packet* packet, const struct toll_group* group, enum continuation how,
                                  toll_u64 episode, toll_u32 due) {
    frame_of(packet)->incarnation = toll_load(&group->incarnation);
    write_frame(packet, &group->sealing, due >> 16, due & 0xffff, toll_continue, how, toll_net64(episode));
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
            tell(packet, group, step, episode);
            return answered();
        }
    }
    count(toll_continued);
    leave_to_proceed(packet, group, without_release, episode, steps | (wakes ? TOLL_OVER : 0));
    return XDP_PASS;
}

#endif
