/* SPDX-License-Identifier: Apache-2.0
 * A group as a card holds it: what the daemon writes once, and what the card's programs change. One map each, mapped
 * read-only into the member's process. */
#ifndef TOLLBAR_TRANSPORTS_NIC_GROUP_H
#define TOLLBAR_TRANSPORTS_NIC_GROUP_H

#include "runtime/frame.h"

#ifndef toll_load
typedef toll_u64 toll_word;
#    define toll_load(word) (*(const volatile toll_u64*)(word))
#    define toll_swap(word, before, after) __sync_val_compare_and_swap(word, before, after)
#endif
#include "protocol.h"

enum {
    toll_header_bytes = 42, /* Ethernet, IPv4 without options, UDP */
    toll_packet_bytes = toll_header_bytes + sizeof(struct toll_frame),
    toll_mark = 0x746f6c6c, /* of frames that the card's programs made; only the privileged can set marks */
    toll_groups = 1024,     /* slots of a card; what the daemon hands out may be less */
};

enum toll_shape {
    toll_plan,   /* the steps of a plan */
    toll_star,   /* all tell the root's card, which tells all by one broadcast */
    toll_switch, /* the same, counted by the switch between them */
};

/* In front of every frame to one peer; nothing in it depends on what the frame says. */
struct toll_header {
    toll_u8 bytes[toll_header_bytes];
    toll_u8 zero[2];
};

struct toll_nic_step {
    struct toll_header to;
    struct toll_header from; /* towards the peer that is awaited, for asking it again */
    struct toll_step step;
};

struct toll_group {
    /* Written by the daemon before the group can be found. */
    struct toll_identity who;
    toll_u64 drawn;           /* by this member, or its daemon, for who admits it; rank 0's is the incarnation */
    struct toll_sip by_drawn; /* seals frames of that number */
    toll_u32 rank;
    toll_u32 ranks;
    toll_u32 shape; /* enum toll_shape */
    toll_u32 root;
    toll_u32 interface;
    toll_u32 slot;
    toll_u32 members; /* ranks whose headers are here */
    struct toll_program program;
    struct toll_header note;      /* towards the member's own socket */
    struct toll_header broadcast; /* towards all cards of the network */
    struct toll_header admits;    /* towards whoever admits this member */

    /* Changed by the card's programs alone. In headers: the hardware address and port of a peer, as it shows them. */
    struct toll_nic_step steps[toll_nic_steps];
    struct toll_header member[toll_counted];
    struct toll_state state __attribute__((aligned(64)));
    struct toll_sip sealing;         /* seals frames of the incarnation */
    toll_word incarnation;           /* 0: not admitted yet */
    toll_word admitted[toll_admits]; /* of those that this member admits: the number they drew */
    toll_word refusal;               /* a rank << 8 | enum toll_refusal */
    toll_word heard[toll_counted];   /* by rank: the newest episode it said it has entered */
    toll_word answers;               /* how many have said so */
};

/* The page that the member's process may write. */
struct toll_host {
    toll_u64 waiting; /* the episode for whose end its owner sleeps */
};

/* How a switch finds groups. */
struct toll_use {
    toll_u64 name;
    toll_u64 incarnation;
    toll_u64 digest;
};

/* A group as a switch holds it, made by its first frame. */
struct toll_tally {
    struct toll_sip sealing;
    toll_u32 members;
    toll_u32 zero;
    struct toll_state state;
};

enum toll_statistic {
    toll_frames,    /* from the network, sound and of a known group */
    toll_answered,  /* of these: answered by the receive program itself */
    toll_continued, /* several messages were due, or one and a wake-up */
    toll_noted,     /* the member's process was woken */
    toll_arrivals,
    toll_known,     /* a signal or a release that said again what was known */
    toll_strange,   /* this and what follows is dropped: for no group here */
    toll_truncated, /* of another length than a frame has */
    toll_altered,   /* the MAC does not hold: altered on its way, or made by somebody without the key */
    toll_forged,    /* source, destination or step not in the plan, a host's kind from the network */
    toll_untimely,  /* an episode that cannot be */
    toll_stale,     /* of another use of the group, or of another plan */
    toll_statistics,
};

#endif
