/* SPDX-License-Identifier: Apache-2.0
 * A group as a NIC holds it: what the daemon writes once, and what the NIC's programs change. One map each, mapped
 * read-only into the member's process. */
#ifndef TOLLBAR_TRANSPORTS_NIC_GROUP_H
#define TOLLBAR_TRANSPORTS_NIC_GROUP_H

#include "wire/protocol.h"

enum {
    toll_header_bytes = 42, /* Ethernet, IPv4 without options, UDP */
    toll_packet_bytes = toll_header_bytes + sizeof(struct toll_frame),
    toll_address_at = 30, /* in a header: the IPv4 address and the port that it goes to */
    toll_port_at = 36,
    toll_mark = 0x746f6c6c, /* of frames that the NIC's programs made; only the privileged can set marks */
    toll_groups = 1024,     /* slots of a NIC; the daemon may hand out fewer */
};

/* In front of every frame to one peer; nothing in it depends on the frame. */
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
    struct toll_member self; /* of which the programs change what admission does */
    toll_u32 interface;
    toll_u32 slot;
    struct toll_program program;
    struct toll_header note;      /* towards the member's own socket */
    struct toll_header broadcast; /* towards all NICs of the network */
    struct toll_header admits;    /* towards the rank that admits this member */

    /* Changed by the NIC's programs alone. In headers: the hardware address and port of a peer, as it shows them. */
    struct toll_nic_step steps[toll_nic_steps];
    struct toll_header member[toll_counted];
    struct toll_state state __attribute__((aligned(64)));
    toll_word admitted[toll_admits]; /* of the ranks that this member admits: the number they drew */
    toll_word entered[toll_counted]; /* by rank: the newest episode it said it has entered */
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

/* Counters of a NIC; those of dropped frames are the first of enum toll_verdict. */
enum toll_statistic {
    toll_strange = toll_stale + 1, /* dropped: for no group here */
    toll_truncated,                /* dropped: of another length than a frame has */
    toll_repeated,                 /* a signal or a release that was known */
    toll_frames,                   /* from the network, sound and of a known group */
    toll_answered,                 /* of these: answered by the receive program itself */
    toll_continued,                /* several messages were due, or one and a wake-up */
    toll_noted,                    /* the member's process was woken */
    toll_arrivals,
    toll_statistics,
};

#endif
