/* SPDX-License-Identifier: Apache-2.0
 * Frames of barriers over a network, the payload of one UDP datagram each, and the steps that a rank's word is compiled
 * to. One header for the host's transport, the NIC's program and the tests: no libc, no includes but the MAC.
 *
 * On the wire all fields are in network byte order, except those that are only compared: name, incarnation, digest,
 * mac. An episode is compared by toll_newer(), so that a job may begin with any; a frame stays true for ever, so a
 * repeated or late one does no harm. Nothing in a frame is secret. */
#ifndef TOLLBAR_WIRE_FRAME_H
#define TOLLBAR_WIRE_FRAME_H

#include "siphash.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef __UINT16_TYPE__ toll_u16;
typedef __UINT32_TYPE__ toll_u32;
typedef __INT64_TYPE__ toll_s64;

enum {
    toll_magic = 0x746f6c32, /* "tol2": the 2 is the version, of the fields and of the MAC */
    toll_port = 7777,        /* of NICs; hosts may take any */
    toll_nic_steps = 16,     /* the longest program of a NIC */
    toll_admits = 64,        /* ranks that one rank admits to a group */
    toll_signed = 47,        /* bytes of a frame that the MAC covers */
};

#define TOLLBAR_NOBODY 0xffffffffU /* an enumerator of C is an int */

/* In `source` and `destination` beside ranks. */
enum {
    toll_everybody = 0xffff,
    toll_the_switch = 0xfffe,
    toll_most_ranks = 0xfff0,
};

enum toll_kind {
    /* Between ranks. `source` is in `episode`, or past it: whatever kind, a frame proves that. */
    toll_signal = 1,  /* the signal that the receiver's step `step` awaits */
    toll_pull = 2,    /* source awaits the signal of the receiver's step `step`: send it again */
    toll_ask = 3,     /* source wants to know whether the receiver has entered */
    toll_here = 4,    /* source has entered */
    toll_leave = 5,   /* source has left `episode`, so all ranks have entered it, and goes for good */
    toll_gather = 6,  /* source has entered; to the NIC or switch that counts */
    toll_release = 7, /* all ranks have entered; from the NIC or switch that counts */
    /* Frames of admission; `incarnation` is a number that the joiner drew for this: an old answer has another. */
    toll_join = 8,  /* source wants to be admitted by the receiver; `episode`: the incarnation it was offered, or 0 */
    toll_offer = 9, /* the incarnation is `episode` (as it is in a frame); the joiner must repeat it: a replayed join
                       cannot know it */
    toll_welcome = 12, /* source has admitted the receiver to the incarnation `episode` */
    toll_refuse = 10,  /* source does not admit the receiver: `step` says why, an enum toll_refusal */
    toll_call = 11,    /* source can admit the receiver now */
    /* Between a host and its own NIC; a frame of these kinds from elsewhere is dropped. */
    toll_arrive = 16,
    toll_timeout = 17,
    toll_continue = 18, /* source and destination together: a mask of steps whose messages are due */
    toll_note = 19,
    toll_enrol = 20, /* ask to be admitted, or, to another rank, offer that */
    toll_who = 21,   /* ask the destination whether it has entered */
};

/* In the step of toll_ask and toll_here: one of the two ranks is not admitted yet. Such a frame proves nothing. */
enum { toll_before_admission = 1 };

enum toll_refusal {
    toll_not_refused,
    toll_used_before, /* another process was this rank in this use of the group */
    toll_other_plan,  /* another plan, size or order of hosts */
};

struct toll_frame {
    toll_u32 magic;
    toll_u32 group;       /* of the job */
    toll_u64 name;        /* toll_name_of() the key and the group */
    toll_u64 incarnation; /* random: of this use of the group; old frames have another */
    toll_u64 digest;      /* of plan, size and order of hosts */
    toll_u64 episode;
    toll_u16 source;
    toll_u16 destination;
    toll_u16 step;
    toll_u8 kind;
    toll_u8 bytes; /* toll_signed: with it the last eight bytes are SipHash's last word */
    toll_u64 mac;  /* SipHash-2-4 with the job's key of the first toll_signed bytes, little-endian */
};

/* "Signal one peer, then await one peer"; either may be TOLLBAR_NOBODY. */
struct toll_step {
    toll_u32 to;
    toll_u32 from;
    toll_u16 to_step;   /* the step in which `to` awaits this */
    toll_u16 from_step; /* the step in which `from` signals this */
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline toll_u16 toll_net16(toll_u16 value) { return __builtin_bswap16(value); }
static inline toll_u32 toll_net32(toll_u32 value) { return __builtin_bswap32(value); }
static inline toll_u64 toll_net64(toll_u64 value) { return __builtin_bswap64(value); }
static inline toll_u64 toll_little64(toll_u64 value) { return value; }
#else
static inline toll_u16 toll_net16(toll_u16 value) { return value; }
static inline toll_u32 toll_net32(toll_u32 value) { return value; }
static inline toll_u64 toll_net64(toll_u64 value) { return value; }
static inline toll_u64 toll_little64(toll_u64 value) { return __builtin_bswap64(value); }
#endif

/* Whether `a` comes after `b`, also when the numbers wrapped in between. */
static inline int toll_newer(toll_u64 a, toll_u64 b) { return (toll_s64)(a - b) > 0; }

/* The part that all frames of one member's group have in common. */
struct toll_identity {
    toll_u64 name;
    toll_u64 digest;
    struct toll_sip begun; /* a secret: the MAC's state after magic, group and name */
    toll_u32 group;        /* network byte order */
    toll_u32 zero;
};

/* Public, and yet nobody can find a key whose group has a given name. */
static inline toll_u64 toll_name_of(struct toll_key key, toll_u32 group) {
    struct toll_sip state = toll_sip_begun(key);

    toll_sip_word(&state, 0x656d616e6c6c6f74ULL); /* "tollname": no frame begins so */
    return toll_little64(toll_sip_ended(state, group | 12ULL << 56));
}

/* As toll_identity_of(), for a name of another key. `group` in network byte order. */
static inline struct toll_identity toll_identity_under(struct toll_key key, toll_u64 name, toll_u32 group,
                                                       toll_u64 digest) {
    struct toll_identity made = {
        .name = name, .digest = digest, .begun = toll_sip_begun(key), .group = group, .zero = 0};
    const struct { toll_u32 magic, group; } first = {toll_net32(toll_magic), group};
    toll_u64 word;

    __builtin_memcpy(&word, &first, sizeof word);
    toll_sip_word(&made.begun, toll_little64(word));
    toll_sip_word(&made.begun, toll_little64(name));
    return made;
}

static inline struct toll_identity toll_identity_of(struct toll_key key, toll_u32 group, toll_u64 digest) {
    return toll_identity_under(key, toll_name_of(key, group), toll_net32(group), digest);
}

/* The key of a group that a switch counts: made of the switch's own, which the daemons know and no member. A daemon
 * gives it only to members that showed it a key with that name. */
static inline struct toll_key toll_switch_key(struct toll_key of_switch, toll_u64 name) {
    struct toll_sip state = toll_sip_begun(of_switch);
    struct toll_key key;

    toll_sip_word(&state, toll_little64(name));
    key.low = toll_sip_ended(state, 1 | 9ULL << 56);
    key.high = toll_sip_ended(state, 2 | 9ULL << 56);
    return key;
}

/* The MAC's state for all frames of that incarnation. */
TOLL_INLINE struct toll_sip toll_sealing(const struct toll_identity* identity, toll_u64 incarnation, toll_u64 digest) {
    struct toll_sip state = identity->begun;

    toll_sip_word(&state, toll_little64(incarnation));
    toll_sip_word(&state, toll_little64(digest));
    return state;
}

/* Source, destination, step, kind: the frame's last signed word, as it lies in memory. */
static inline toll_u64 toll_tail(const struct toll_frame* frame) {
    toll_u64 tail;

    __builtin_memcpy(&tail, (const toll_u8*)frame + __builtin_offsetof(struct toll_frame, source), sizeof tail);
    return tail;
}

/* The same of its parts: one word, so that a program that writes it and reads it again does not wait for the memory. */
static inline toll_u64 toll_tail_of(toll_u32 source, toll_u32 destination, toll_u16 step, toll_u8 kind) {
    return toll_net64((toll_u64)(source & 0xffff) << 48 | (toll_u64)(destination & 0xffff) << 32 |
                      (toll_u64)step << 16 | (toll_u64)kind << 8 | toll_signed);
}

/* In a NIC's program a function of its own: the verifier looks at it once, not on every path that leads to it. */
#ifdef __bpf__
#    define TOLL_ONCE __attribute__((noinline))
#else
#    define TOLL_ONCE static inline
#endif

/* The MAC, as it is in a frame, for that `episode` and the bytes behind it. */
TOLL_ONCE toll_u64 toll_mac(const struct toll_sip* sealing, toll_u64 episode, toll_u64 tail) {
    struct toll_sip state;

    if (!sealing) return 0; /* never, which the verifier does not know */
    state = *sealing;
    toll_sip_word(&state, toll_little64(episode));
    return toll_little64(toll_sip_ended(state, toll_little64(tail)));
}

static inline toll_u64 toll_mac_of(const struct toll_sip* sealing, const struct toll_frame* frame) {
    return toll_mac(sealing, frame->episode, toll_tail(frame));
}

/* A whole frame, without its MAC. */
static inline struct toll_frame toll_unsealed(const struct toll_identity* identity, toll_u64 incarnation, toll_u8 kind,
                                              toll_u16 step, toll_u32 source, toll_u32 destination, toll_u64 episode) {
    const struct toll_frame frame = {.magic = toll_net32(toll_magic),
                                     .group = identity->group,
                                     .name = identity->name,
                                     .incarnation = incarnation,
                                     .digest = identity->digest,
                                     .episode = toll_net64(episode),
                                     .source = toll_net16((toll_u16)source),
                                     .destination = toll_net16((toll_u16)destination),
                                     .step = toll_net16(step),
                                     .kind = kind,
                                     .bytes = toll_signed,
                                     .mac = 0};

    return frame;
}

/* The rank that admits that one to a group. Rank 0 needs none: it draws the incarnation. */
static inline toll_u32 toll_admits_of(toll_u32 rank) { return (rank - 1) / toll_admits; }

/* The index of `other` among the ranks that `rank` admits; toll_admits if it is none of them. */
static inline toll_u32 toll_admitted_as(toll_u32 rank, toll_u32 other) {
    const toll_u32 first = rank * toll_admits + 1;

    return other >= first && other - first < toll_admits ? other - first : (toll_u32)toll_admits;
}

#ifdef __cplusplus
}
static_assert(sizeof(toll_frame) == 56 && sizeof(toll_step) == 12, "no padding: the layout is the protocol");
#else
_Static_assert(sizeof(struct toll_frame) == 56 && sizeof(struct toll_step) == 12,
               "no padding: the layout is the protocol");
#endif

#endif
