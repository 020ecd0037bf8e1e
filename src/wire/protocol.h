/* SPDX-License-Identifier: Apache-2.0
 * The protocol of barriers over a network: which frames a member believes, what it owes for each, and how a NIC's state
 * changes whichever processors handle frames and arrivals at the same time: compare-and-swap alone, no lock. One text
 * for the host over UDP, the NIC's programs and the model checker. No clock, no socket, no loop over frames.
 *
 * The includer may say what a word is: toll_word, toll_load() (no order), toll_swap() (compare and swap; returns the
 * value before; orders everything before and after it). */
#ifndef TOLLBAR_WIRE_PROTOCOL_H
#define TOLLBAR_WIRE_PROTOCOL_H

#include "wire/frame.h"

#ifndef toll_load
typedef toll_u64 toll_word;
#    define toll_load(word) (*(const volatile toll_u64*)(word))
#    define toll_swap(word, before, after) __sync_val_compare_and_swap(word, before, after)
#endif

enum {
    toll_counted = 64, /* members that a NIC or a switch can count */
    toll_step_bits = 8,
    toll_step_mask = toll_nic_steps - 1,
};

enum toll_shape {
    toll_plan,   /* the steps of a plan */
    toll_star,   /* all signal rank 0's NIC, which signals all by one broadcast */
    toll_switch, /* the same, counted by the switch between them */
};

/* One process as one rank of a group. */
struct toll_member {
    struct toll_identity who;
    toll_u64 drawn;           /* random, not 0; rank 0's is the incarnation */
    struct toll_sip by_drawn; /* seals frames of that number */
    struct toll_sip sealing;  /* seals frames of the incarnation */
    toll_word incarnation;    /* 0: not admitted yet */
    toll_word refusal;        /* of this member or by it, the first: a rank << 8 | enum toll_refusal */
    toll_u32 rank;
    toll_u32 ranks;
    toll_u32 members; /* ranks that this member can signal whatever its plan: all of a host's, the first of a NIC's */
    toll_u32 shape;   /* enum toll_shape */
};

/* The episode that a member has entered, and its steps that have signalled in it: those before `signalled`. */
struct toll_now {
    toll_u64 episode;
    toll_u32 signalled;
};

/* The subject of a frame, looked up by the hearer, whose arrays are as long as its group wants. */
struct toll_subject {
    toll_u32 from; /* the peers of the frame's step; TOLLBAR_NOBODY where the program has no such step */
    toll_u32 to;
    toll_word* signalled; /* of that step: the newest episode in which `from` has signalled it */
    toll_word* admitted;  /* of the source: the number that it drew when it was admitted, 0 before */
};

/* The outcome of a frame. */
enum toll_verdict {
    /* Dropped: it changes nothing. */
    toll_altered,      /* the MAC does not hold: altered on its way, or made by somebody without the key */
    toll_forged,       /* source, kind or step are not in the plan */
    toll_untimely,     /* an episode that cannot be, or one long past */
    toll_stale,        /* of another use of the group, or of another plan */
    toll_misaddressed, /* for another member, or from none */
    /* Heard: `proof` holds, and the hearer advances as far as its awaits allow. */
    toll_known,     /* a signal that was received before */
    toll_believed,  /* anything else that calls for no answer */
    toll_not_yet,   /* the source pulls a signal that is still to be sent */
    toll_to_repeat, /* signal the frame's step again, with `episode` */
    toll_to_answer, /* send the source `kind` with `step` and `episode`, in this use of the group */
    /* Heard by the NIC that counts, or of it: */
    toll_to_count,  /* the source has entered */
    toll_to_gather, /* signal again that this member has entered */
    /* Heard before admission: nothing is proved. */
    toll_present,  /* the source has entered, by its own account */
    toll_unheeded, /* nothing to do */
    toll_to_join,  /* ask to be admitted */
    toll_to_reply, /* as toll_to_answer, in the frame's own incarnation and digest, sealed with `sealing` */
    toll_to_begin, /* admitted to the incarnation in `episode`: call toll_begin(), then signal what was entered before
                    */
};

struct toll_reply {
    enum toll_verdict verdict;
    toll_u8 kind;
    toll_u16 step;
    toll_u64 episode;
    toll_u64 proof; /* an episode that some member has entered, so all have entered those before it */
    struct toll_sip sealing;
};

/* Keeps the newest. An episode that runs out of tries is lost like a frame, and pulled again. */
static inline void toll_record(toll_word* newest, toll_u64 episode) {
    for (int i = 0; i < 4; ++i) {
        const toll_u64 seen = toll_load(newest);

        if (!toll_newer(episode, seen) || toll_swap(newest, seen, episode) == seen) return;
    }
}

/* A signal of a step: whether it was known. */
TOLL_INLINE enum toll_verdict toll_receive(toll_word* signalled, toll_u64 episode) {
    if (!toll_newer(episode, toll_load(signalled))) return toll_known;
    toll_record(signalled, episode);
    return toll_believed;
}

/* Whether an await holds in the episode `now`: its peer has signalled it, or some member has entered a later one. */
static inline int toll_met(toll_u64 now, toll_u64 signalled, toll_u64 proof) {
    return !toll_newer(now, signalled) || toll_newer(proof, now);
}

/* Once for each rank: a second process of the same rank would pass the episodes that the first has entered. `drawn` is
 * the number that it drew, not 0. */
static inline int toll_admit(toll_word* admitted, toll_u64 drawn) {
    const toll_u64 before = toll_swap(admitted, 0, drawn);

    return !before || before == drawn;
}

/* The member, all zero before, as which a process begins. Rank 0 is admitted: it drew the incarnation. */
static inline void toll_become(struct toll_member* self, const struct toll_identity* who, toll_u64 drawn, toll_u32 rank,
                               toll_u32 ranks, toll_u32 members, toll_u32 shape) {
    self->who = *who;
    self->drawn = drawn;
    self->by_drawn = self->sealing = toll_sealing(who, drawn, who->digest);
    self->rank = rank;
    self->ranks = ranks;
    self->members = members;
    self->shape = shape;
    if (rank == 0) toll_swap(&self->incarnation, 0, drawn);
}

/* The member is admitted. */
static inline void toll_begin(struct toll_member* self, toll_u64 incarnation) {
    self->sealing = toll_sealing(&self->who, incarnation, self->who.digest);
    toll_swap(&self->incarnation, 0, incarnation);
}

/* A rank asks to be admitted. Its first question is answered by the incarnation, and only one that repeats it is
 * granted: a question from an earlier use of the group may come late. */
TOLL_INLINE struct toll_reply toll_hear_join(struct toll_member* self, const struct toll_frame* frame,
                                             toll_word* admitted, toll_u64 incarnation, struct toll_reply reply) {
    const toll_u32 source = toll_net16(frame->source);
    enum toll_refusal why = toll_not_refused;

    reply.verdict = toll_forged;
    if (toll_admitted_as(self->rank, source) >= toll_admits) return reply;
    reply.verdict = toll_unheeded;
    if (frame->digest != self->who.digest)
        why = toll_other_plan;
    else if (!incarnation)
        return reply; /* it asks again */
    reply.verdict = toll_to_reply;
    if (!why && frame->episode == incarnation && !toll_admit(admitted, frame->incarnation)) why = toll_used_before;
    if (why) {
        /* Before it is admitted itself, a member would take that for its own refusal. */
        if (incarnation) toll_swap(&self->refusal, 0, (toll_u64)source << 8 | why);
        reply.kind = toll_refuse;
        reply.step = (toll_u16)why;
        reply.episode = 0;
        return reply;
    }
    reply.kind = frame->episode == incarnation ? toll_welcome : toll_offer;
    reply.step = 0;
    reply.episode = toll_net64(incarnation);
    return reply;
}

/* A frame of another number than this use of the group has, or before there is one. Rank 0 drew the incarnation; every
 * other rank gets it once, from the rank that admits it, in an answer to a number that it drew itself. So a frame of
 * an earlier use is never believed. */
TOLL_INLINE struct toll_reply toll_hear_before(struct toll_member* self, const struct toll_frame* frame,
                                               struct toll_now now, toll_word* admitted, toll_u64 incarnation) {
    const toll_u32 source = toll_net16(frame->source), step = toll_net16(frame->step);
    const toll_u64 episode = toll_net64(frame->episode);
    const int ours = frame->digest == self->who.digest;
    const int mine = ours && frame->incarnation == self->drawn;
    const int from_above = !incarnation && self->rank && source == toll_admits_of(self->rank);
    struct toll_reply reply = {toll_stale, 0,           0,
                               episode,    now.episode, toll_sealing(&self->who, frame->incarnation, frame->digest)};

    if (frame->mac != toll_mac_of(&reply.sealing, frame)) {
        reply.verdict = toll_altered;
    } else if (toll_net16(frame->destination) != self->rank || source >= self->ranks || source == self->rank) {
        reply.verdict = toll_misaddressed;
    } else if (frame->kind == toll_join) {
        return toll_hear_join(self, frame, admitted, incarnation, reply);
    } else if (frame->kind == toll_call) {
        if (from_above) reply.verdict = toll_to_join;
    } else if (frame->kind == toll_ask) {
        if (ours && (!incarnation || step == toll_before_admission)) {
            reply.verdict = toll_to_reply;
            reply.kind = toll_here;
            reply.step = toll_before_admission;
            reply.episode = now.episode;
        }
    } else if (frame->kind == toll_here) {
        if (mine && step == toll_before_admission && source < self->members && !toll_newer(episode, now.episode))
            reply.verdict = toll_present;
    } else if (from_above && mine) {
        if (frame->kind == toll_offer) {
            reply.verdict = toll_to_reply;
            reply.kind = toll_join;
        } else if (frame->kind == toll_welcome && episode) {
            reply.verdict = toll_to_begin;
        } else if (frame->kind == toll_refuse) {
            toll_swap(&self->refusal, 0, (toll_u64)source << 8 | (step & 0xff));
            reply.verdict = toll_unheeded;
        }
    }
    return reply;
}

/* A sound frame of this use of the group. Its source has entered its episode, whatever its kind. */
TOLL_INLINE struct toll_reply toll_hear_member(const struct toll_member* self, const struct toll_frame* frame,
                                               struct toll_now now, struct toll_subject subject) {
    const toll_u32 source = toll_net16(frame->source), destination = toll_net16(frame->destination),
                   step = toll_net16(frame->step);
    const toll_u64 episode = toll_net64(frame->episode);
    const toll_s64 ahead = (toll_s64)(episode - now.episode);
    const int released = frame->kind == toll_release && self->shape != toll_plan;
    const int known = source < self->members && step == 0;
    struct toll_reply reply = {toll_forged, toll_here, 0, now.episode, episode, {0, 0, 0, 0}};

    if (released ? source != (self->shape == toll_switch ? (toll_u32)toll_the_switch : 0U) ||
                       (destination != self->rank && destination != toll_everybody)
                 : source >= self->ranks || source == self->rank || destination != self->rank) {
        reply.verdict = toll_misaddressed;
        return reply;
    }
    /* A member of e has left e-1, so this one has entered e-1; one that has left has entered no more than this one. */
    if (ahead < -1 || ahead > (frame->kind == toll_leave ? 0 : 1)) {
        reply.verdict = toll_untimely;
        return reply;
    }
    switch (frame->kind) {
        case toll_signal:
            if (source == subject.from) reply.verdict = toll_receive(subject.signalled, episode);
            break;
        case toll_release:
            if (released && step == 0 && ahead <= 0) reply.verdict = toll_receive(subject.signalled, episode);
            break;
        case toll_pull:
            if (self->shape != toll_plan) { /* rank 0's NIC asks for the gather */
                if (source != 0) break;
                reply.verdict = ahead > 0 ? toll_unheeded : toll_to_gather;
                reply.episode = episode;
                break;
            }
            if (source != subject.to) break;
            if (step >= now.signalled) --reply.episode;
            reply.verdict = toll_newer(episode, reply.episode) ? toll_not_yet : toll_to_repeat;
            break;
        case toll_gather:
            if (self->shape == toll_star && self->rank == 0 && source < self->members) reply.verdict = toll_to_count;
            break;
        case toll_ask:
            if (known) reply.verdict = toll_to_answer;
            break;
        case toll_here:
            if (known) reply.verdict = toll_believed;
            if (source < self->members && step == toll_before_admission && ahead <= 0) reply.verdict = toll_present;
            break;
        case toll_leave:
            if (!known) break;
            reply.verdict = toll_believed;
            reply.proof = episode + 1;
            break;
        default: break; /* what NICs and hosts say to themselves */
    }
    return reply;
}

/* One frame of the member's group, by its name: what to believe, and what is owed for it. `now` is what the member has
 * entered; it looks again before it advances. */
TOLL_INLINE struct toll_reply toll_hear(struct toll_member* self, const struct toll_frame* frame, struct toll_now now,
                                        struct toll_subject subject) {
    const toll_u64 incarnation = toll_load(&self->incarnation);
    struct toll_reply reply;

    if (!incarnation || frame->incarnation != incarnation || frame->digest != self->who.digest)
        return toll_hear_before(self, frame, now, subject.admitted, incarnation);
    if (frame->mac == toll_mac_of(&self->sealing, frame)) return toll_hear_member(self, frame, now, subject);
    reply.verdict = toll_altered;
    return reply;
}

/* A NIC's memory of a group's episodes. */
struct toll_state {
    toll_word at;                        /* episode << 8 | step; step == steps: the episode is over */
    toll_word signalled[toll_nic_steps]; /* by step: the newest episode in which the peer awaited there has signalled */
    toll_word counted[2];                /* low half of the episode << 32 | members of it that have entered */
    toll_word released;                  /* the newest episode that all members have entered */
};

/* A program as far as the order of events needs it: bit s stands for step s. */
struct toll_program {
    toll_u32 steps;
    toll_u32 signals;
    toll_u32 awaits;
};

/* In the mask of what is due: the episode is over. The other bits are steps whose messages are to be sent. */
#define TOLL_OVER (1U << 31)

static inline toll_u64 toll_at(toll_u64 episode, toll_u32 step) { return episode << toll_step_bits | step; }
static inline toll_u64 toll_episode_of(toll_u64 at) { return at >> toll_step_bits; }
static inline toll_u32 toll_step_of(toll_u64 at) { return at & ((1U << toll_step_bits) - 1); }

/* The host arrives: 1 when the episode before is over and this one is entered now. The caller owes step 0's message. */
static inline int toll_enter(struct toll_state* state, const struct toll_program* program, toll_u64 episode) {
    const toll_u64 over = toll_at(episode - 1, program->steps);

    return toll_swap(&state->at, over, toll_at(episode, 0)) == over;
}

/* The step that a NIC is at has signalled, or its message is owed by the processor that moved the NIC there. */
static inline struct toll_now toll_now_at(toll_u64 at) {
    const struct toll_now now = {toll_episode_of(at), toll_step_of(at) + 1};

    return now;
}

/* Goes on as far as the awaits allow; returns what is due, all of the one episode `*episode`. The processor that moves
 * the group on owes the message of the step it enters: so each is sent once.
 *
 * `proof` is an episode that some member is known to have entered. Called after every toll_hear() and toll_enter(): of
 * a record and an entry that race, the later one sees the other. */
static inline toll_u32 toll_advance(struct toll_state* state, const struct toll_program* program, toll_u64 proof,
                                    toll_u64* episode) {
    toll_u32 due = 0;

    for (int i = 0; i < toll_nic_steps + 8; ++i) {
        const toll_u64 at = toll_load(&state->at);
        const toll_u64 now = toll_episode_of(at);
        const toll_u32 step = toll_step_of(at);

        if (step >= program->steps) break;
        if (due && now != *episode) break; /* others finished it; the arrival in the next one goes on there */
        if ((program->awaits >> (step & toll_step_mask) & 1) &&
            !toll_met(now, toll_load(&state->signalled[step & toll_step_mask]), proof))
            break;
        if (toll_swap(&state->at, at, at + 1) != at) continue;
        *episode = now;
        if (step + 1 == program->steps) return due | TOLL_OVER;
        due |= program->signals & 1U << ((step + 1) & toll_step_mask);
    }
    return due;
}

/* A NIC's toll_begin(); returns what is due, all of the episode `*episode`. When this and an arrival race, the later
 * one sees the other: an arrival moves the word and then looks at the incarnation. */
static inline toll_u32 toll_begin_at(struct toll_member* self, toll_u64 incarnation, const struct toll_state* state,
                                     const struct toll_program* program, toll_u64* episode) {
    toll_begin(self, incarnation);
    const toll_u64 at = toll_load(&state->at);

    *episode = toll_episode_of(at);
    if (toll_step_of(at) >= program->steps) return 0;
    return program->signals & ((2U << (toll_step_of(at) & toll_step_mask)) - 1);
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
