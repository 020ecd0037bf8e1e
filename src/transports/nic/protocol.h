/* SPDX-License-Identifier: Apache-2.0
 * What a card remembers of a group and how that changes, whichever processors handle frames and arrivals at the same
 * time: compare-and-swap alone, no lock. The card's programs and the model checker compile this same text.
 *
 * Who includes it says what a word is: toll_word, toll_load() (no order), toll_swap() (compare and swap; gives what was
 * there; orders everything before and after it). */
#ifndef TOLLBAR_TRANSPORTS_NIC_PROTOCOL_H
#define TOLLBAR_TRANSPORTS_NIC_PROTOCOL_H

#include "runtime/frame.h"

enum {
    toll_counted = 64, /* members that a card or a switch can count */
    toll_step_bits = 8,
    toll_step_mask = toll_nic_steps - 1,
};

/* In the mask of what is due: the episode is over. The other bits are steps whose messages are to be sent. */
#define TOLL_OVER (1U << 31)

struct toll_state {
    toll_word at;                   /* episode << 8 | step; step == steps: the episode is over */
    toll_word told[toll_nic_steps]; /* by step: the newest episode in which the peer awaited there has told it */
    toll_word counted[2];           /* low half of the episode << 32 | members of it that have entered */
    toll_word released;             /* the newest episode that all members have entered */
};

/* A program as far as the order of events needs it: bit s stands for step s. */
struct toll_program {
    toll_u32 steps;
    toll_u32 tells;
    toll_u32 awaits;
};

static inline toll_u64 toll_place(toll_u64 episode, toll_u32 step) { return episode << toll_step_bits | step; }
static inline toll_u64 toll_episode_of(toll_u64 place) { return place >> toll_step_bits; }
static inline toll_u32 toll_step_of(toll_u64 place) { return place & ((1U << toll_step_bits) - 1); }

/* Keeps the newest. What runs out of tries is lost like a frame, and pulled again. */
static inline void toll_record(toll_word* newest, toll_u64 episode) {
    for (int i = 0; i < 4; ++i) {
        const toll_u64 seen = toll_load(newest);

        if (!toll_newer(episode, seen) || toll_swap(newest, seen, episode) == seen) return;
    }
}

/* The host arrives: 1 when the episode before is over and this one is entered now. The caller owes what step 0 tells.
 */
static inline int toll_enter(struct toll_state* state, const struct toll_program* program, toll_u64 episode) {
    const toll_u64 over = toll_place(episode - 1, program->steps);

    return toll_swap(&state->at, over, toll_place(episode, 0)) == over;
}

/* Goes on as far as the awaits allow; gives what is due, all of the one episode `*episode`. Whoever moves the group on
 * owes the message of the step it enters: each is sent once, by whichever processor that was.
 *
 * `proof` is an episode that some member is known to have entered: all have entered those before it, so their awaits
 * hold no more. Called after every toll_record and toll_enter: of a record and an entry that race, the later one
 * sees the other. */
static inline toll_u32 toll_advance(struct toll_state* state, const struct toll_program* program, toll_u64 proof,
                                    toll_u64* episode) {
    toll_u32 due = 0;

    for (int i = 0; i < toll_nic_steps + 8; ++i) {
        const toll_u64 place = toll_load(&state->at);
        const toll_u64 now = toll_episode_of(place);
        const toll_u32 step = toll_step_of(place);

        if (step >= program->steps) break;
        if (due && now != *episode) break; /* others finished it; who entered the next one goes on there */
        if ((program->awaits >> (step & toll_step_mask) & 1) &&
            toll_newer(now, toll_load(&state->told[step & toll_step_mask])) && !toll_newer(proof, now))
            break;
        if (toll_swap(&state->at, place, place + 1) != place) continue;
        *episode = now;
        if (step + 1 == program->steps) return due | TOLL_OVER;
        due |= program->tells & 1U << ((step + 1) & toll_step_mask);
    }
    return due;
}

/* Once for each rank: whoever comes as the same rank again would pass the episodes that the first has entered. `drawn`
 * is the number that it drew, not 0. */
static inline int toll_admit(toll_word* place, toll_u64 drawn) {
    const toll_u64 before = toll_swap(place, 0, drawn);

    return !before || before == drawn;
}

/* A member is admitted; gives how far its host has got, which is told now. Of this and an arrival that race, the later
 * one sees the other: who has entered looks at the incarnation afterwards. */
static inline toll_u64 toll_begin(toll_word* incarnation, toll_u64 of_group, struct toll_state* state) {
    toll_swap(incarnation, 0, of_group);
    return toll_load(&state->at);
}

/* Counts a member that has entered; 1 for the one caller that completes the episode. Counts carry their episode, so a
 * repeated or late frame, on whatever processor, cannot count for another one. */
static inline int toll_count(struct toll_state* state, toll_u32 members, toll_u32 member, toll_u64 episode) {
    const toll_u64 tag = episode << 32;
    const toll_u64 low = members >= 32 ? 0xffffffffU : (1U << members) - 1;
    const toll_u64 high = members > 32 ? (1ULL << (members - 32)) - 1 : 0;
    toll_word* const word = &state->counted[member >> 5 & 1];

    for (int i = 0; i < 16; ++i) {
        const toll_u64 seen = toll_load(word);
        const toll_u64 others = seen >> 32 == tag >> 32 ? seen & 0xffffffffU : 0;

        if ((int)((toll_u32)(tag >> 32) - (toll_u32)(seen >> 32)) < 0) return 0;
        if (toll_swap(word, seen, tag | others | 1ULL << (member & 31)) == seen) break;
    }
    if (toll_load(&state->counted[0]) != (tag | low)) return 0;
    if (high && toll_load(&state->counted[1]) != (tag | high)) return 0;
    const toll_u64 seen = toll_load(&state->released);
    return toll_newer(episode, seen) && toll_swap(&state->released, seen, episode) == seen;
}

#endif
