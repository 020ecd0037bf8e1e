/* SPDX-License-Identifier: Apache-2.0
 * What barriers say to each other over a network: the payload of one UDP datagram, and the steps that a rank's word is
 * compiled to. One header for the host's transport, the card's program and the tests: no libc, no includes.
 *
 * On the wire all fields are in network byte order. An episode is compared by toll_newer(), so that a job may begin
 * with any; what a frame says stays true for ever, so a repeated or late one does no harm. */
#ifndef TOLLBAR_RUNTIME_FRAME_H
#define TOLLBAR_RUNTIME_FRAME_H

#ifdef __cplusplus
extern "C" {
#endif

typedef __UINT8_TYPE__ toll_u8;
typedef __UINT16_TYPE__ toll_u16;
typedef __UINT32_TYPE__ toll_u32;
typedef __UINT64_TYPE__ toll_u64;
typedef __INT64_TYPE__ toll_s64;

enum {
    toll_magic = 0x746f6c31, /* "tol1": the 1 is the version, of the fields and of the check */
    toll_port = 7777,        /* where cards listen; hosts may take any */
    toll_nic_steps = 16,     /* a card runs programs of so many steps */
};

#define TOLLBAR_NOBODY 0xffffffffU /* an enumerator of C is an int */

enum toll_kind {
    /* Between ranks. `source` is in `episode`, or past it: whatever kind, a frame proves that. */
    toll_signal = 1,  /* source tells the receiver's step `step` */
    toll_pull = 2,    /* source awaits what the receiver's step `step` tells: tell it again */
    toll_ask = 3,     /* source wants to know whether the receiver has entered */
    toll_here = 4,    /* source has entered */
    toll_leave = 5,   /* source has left `episode`, so everybody has entered it, and goes for good */
    toll_gather = 6,  /* source has entered; to the card that counts */
    toll_release = 7, /* everybody has entered; from whoever counts */
    /* Between a host and its own card; a frame of these kinds from elsewhere is dropped. */
    toll_arrive = 16,
    toll_timeout = 17,
    toll_continue = 18, /* `mask`: steps whose messages are due */
    toll_note = 19,
};

struct toll_frame {
    toll_u32 magic;
    toll_u8 kind;
    toll_u8 zero;
    toll_u16 step;
    toll_u64 key;   /* random, the job's */
    toll_u32 group; /* of the job */
    toll_u32 source;
    toll_u64 episode;
    toll_u32 mask;  /* zero between ranks */
    toll_u32 check; /* toll_check() of the rest */
};

/* "Tell one peer, then await one peer"; either may be TOLLBAR_NOBODY. */
struct toll_step {
    toll_u32 to;
    toll_u32 from;
    toll_u16 to_step;   /* the step in which `to` awaits this */
    toll_u16 from_step; /* the step in which `from` tells this */
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline toll_u16 toll_net16(toll_u16 value) { return __builtin_bswap16(value); }
static inline toll_u32 toll_net32(toll_u32 value) { return __builtin_bswap32(value); }
static inline toll_u64 toll_net64(toll_u64 value) { return __builtin_bswap64(value); }
#else
static inline toll_u16 toll_net16(toll_u16 value) { return value; }
static inline toll_u32 toll_net32(toll_u32 value) { return value; }
static inline toll_u64 toll_net64(toll_u64 value) { return value; }
#endif

/* Whether `a` comes after `b`, also when the numbers wrapped in between. */
static inline int toll_newer(toll_u64 a, toll_u64 b) { return (toll_s64)(a - b) > 0; }

/* Two words of 32 bits, each added to a random number that hides the other: with each pair of numbers drawn anew, the
 * high half of a sum of such products is the same for two given frames once in 2^32 times (Thorup 2015, "High Speed
 * Hashing for Integers and Strings", pair-multiply-shift). The products of a frame do not wait for each other. */
static inline toll_u64 toll_pair(toll_u64 high, toll_u64 high_hidden, toll_u64 low, toll_u64 low_hidden) {
    return (high + low_hidden) * (low + high_hidden);
}

/* Binds the fields together, so that a frame that was altered on its way passes once in 2^32 times; UDP's own checksum
 * is 16 bits, and cards leave it out. Not a signature: whoever can read the key can forge. */
static inline toll_u32 toll_check(const struct toll_frame* frame) {
    const toll_u64 key = toll_net64(frame->key), episode = toll_net64(frame->episode);
    const toll_u32 head = (toll_u32)frame->kind << 24 | (toll_u32)frame->zero << 16 | toll_net16(frame->step);

    return (toll_u32)((toll_pair(key >> 32, 0x8e6ad1d661ece203ULL, (toll_u32)key, 0x44cc2ed7f0390fa5ULL) +
                       toll_pair(episode >> 32, 0x8af545bc4177fabdULL, (toll_u32)episode, 0x661a61182813e2f7ULL) +
                       toll_pair(toll_net32(frame->group), 0x97785798d3c8f923ULL, toll_net32(frame->source),
                                 0xb2710c241d728bbbULL) +
                       toll_pair(head, 0x24450b3ff1bca5d7ULL, toll_net32(frame->mask), 0xbf5b957102fbf4e9ULL)) >>
                      32);
}

/* A whole frame; `key` and `group` in network byte order, as they are in a frame. */
static inline struct toll_frame toll_sealed(toll_u8 kind, toll_u16 step, toll_u64 key, toll_u32 group, toll_u32 source,
                                            toll_u64 episode, toll_u32 mask) {
    struct toll_frame frame = {.magic = toll_net32(toll_magic),
                               .kind = kind,
                               .zero = 0,
                               .step = toll_net16(step),
                               .key = key,
                               .group = group,
                               .source = toll_net32(source),
                               .episode = toll_net64(episode),
                               .mask = toll_net32(mask),
                               .check = 0};

    frame.check = toll_net32(toll_check(&frame));
    return frame;
}

/* Why a frame is not for this group of this job, as far as the frame alone tells. */
enum toll_flaw {
    toll_sound = 0,
    toll_not_ours, /* another program's, or another version's */
    toll_other_key,
    toll_other_group,
    toll_damaged,
};

/* As above, `key` and `group` are in network byte order. */
static inline enum toll_flaw toll_inspect(const struct toll_frame* frame, toll_u64 key, toll_u32 group) {
    if (frame->magic != toll_net32(toll_magic)) return toll_not_ours;
    if (frame->key != key) return toll_other_key;
    if (frame->group != group) return toll_other_group;
    if (frame->check != toll_net32(toll_check(frame))) return toll_damaged;
    return toll_sound;
}

#ifdef __cplusplus
}
static_assert(sizeof(toll_frame) == 40 && sizeof(toll_step) == 12, "no padding: the layout is the protocol");
#else
_Static_assert(sizeof(struct toll_frame) == 40 && sizeof(struct toll_step) == 12,
               "no padding: the layout is the protocol");
#endif

#endif
