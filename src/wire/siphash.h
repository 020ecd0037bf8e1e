/* SPDX-License-Identifier: Apache-2.0
 * SipHash-2-4 (Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF", section 2): nobody without the 128 bits
 * of the key can make a message or alter it unnoticed. One header for hosts, the NICs' programs and the tests; no libc,
 * no includes. A state may be kept when the first words are the same for many messages. */
#ifndef TOLLBAR_WIRE_SIPHASH_H
#define TOLLBAR_WIRE_SIPHASH_H

#ifdef __cplusplus
extern "C" {
#endif

#define TOLL_INLINE static inline __attribute__((always_inline))

typedef __UINT8_TYPE__ toll_u8;
typedef __UINT64_TYPE__ toll_u64;

/* A secret. The first eight bytes of the paper's key are `low`, little-endian. */
struct toll_key {
    toll_u64 low;
    toll_u64 high;
};

/* As secret as the key. */
struct toll_sip {
    toll_u64 v0, v1, v2, v3;
};

#define TOLL_ROTATED(word, bits) ((word) << (bits) | (word) >> (64 - (bits)))

TOLL_INLINE void toll_sip_round(struct toll_sip* state) {
    state->v0 += state->v1;
    state->v2 += state->v3;
    state->v1 = TOLL_ROTATED(state->v1, 13) ^ state->v0;
    state->v3 = TOLL_ROTATED(state->v3, 16) ^ state->v2;
    state->v0 = TOLL_ROTATED(state->v0, 32);
    state->v2 += state->v1;
    state->v0 += state->v3;
    state->v1 = TOLL_ROTATED(state->v1, 17) ^ state->v2;
    state->v3 = TOLL_ROTATED(state->v3, 21) ^ state->v0;
    state->v2 = TOLL_ROTATED(state->v2, 32);
}

TOLL_INLINE struct toll_sip toll_sip_begun(struct toll_key key) {
    const struct toll_sip state = {key.low ^ 0x736f6d6570736575ULL, key.high ^ 0x646f72616e646f6dULL,
                                   key.low ^ 0x6c7967656e657261ULL, key.high ^ 0x7465646279746573ULL};

    return state;
}

/* Eight more bytes, little-endian. */
TOLL_INLINE void toll_sip_word(struct toll_sip* state, toll_u64 word) {
    state->v3 ^= word;
    toll_sip_round(state);
    toll_sip_round(state);
    state->v0 ^= word;
}

/* `last` holds the up to seven bytes that are left, and the length of all in its highest byte. */
TOLL_INLINE toll_u64 toll_sip_ended(struct toll_sip state, toll_u64 last) {
    toll_sip_word(&state, last);
    state.v2 ^= 0xff;
    toll_sip_round(&state);
    toll_sip_round(&state);
    toll_sip_round(&state);
    toll_sip_round(&state);
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

/* The hash of any bytes; the functions above are this one in pieces. */
static inline toll_u64 toll_siphash(struct toll_key key, const void* message, toll_u64 length) {
    const toll_u8* bytes = (const toll_u8*)message;
    struct toll_sip state = toll_sip_begun(key);
    toll_u64 word = 0;

    for (toll_u64 i = 0; i < length; ++i) {
        word |= (toll_u64)bytes[i] << 8 * (i % 8);
        if (i % 8 != 7) continue;
        toll_sip_word(&state, word);
        word = 0;
    }
    return toll_sip_ended(state, word | length << 56);
}

#ifdef __cplusplus
}
#endif

#endif
