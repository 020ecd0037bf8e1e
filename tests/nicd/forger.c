/* SPDX-License-Identifier: Apache-2.0
 * Says what members and their hosts say, in every way in which a process without rights can send: with all that is
 * public of a group, and without its key.
 *
 *     forger KEY GROUP RANK EPISODE INCARNATION DIGEST ADDRESS...
 *
 * KEY is used for the name alone, which is in every frame, as are incarnation and digest: hexadecimal, as they lie in
 * memory. */
#include "wire/frame.h"

#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#    define UDP_SEGMENT 103
#endif

/* As one datagram, as the second segment of one, piece by piece, with an option in front. */
static void send_all_ways(const struct toll_frame* frame, const struct sockaddr_in* to) {
    static const unsigned char nothing[4] = {1, 1, 1, 1}; /* IP options that do nothing */
    const int size = sizeof *frame, on = 1;
    struct toll_frame two[2];
    const int plain = socket(AF_INET, SOCK_DGRAM, 0), halves = socket(AF_INET, SOCK_DGRAM, 0),
              optional = socket(AF_INET, SOCK_DGRAM, 0);

    setsockopt(plain, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    setsockopt(halves, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    setsockopt(optional, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    connect(plain, (const struct sockaddr*)to, sizeof *to);
    connect(halves, (const struct sockaddr*)to, sizeof *to);
    connect(optional, (const struct sockaddr*)to, sizeof *to);
    send(plain, frame, sizeof *frame, 0); /* that it is dropped is no error */
    send(halves, frame, 20, MSG_MORE);
    send(halves, (const char*)frame + 20, sizeof *frame - 20, 0);
    if (setsockopt(optional, IPPROTO_IP, IP_OPTIONS, nothing, sizeof nothing) == 0)
        send(optional, frame, sizeof *frame, 0);
    memset(two, 0, sizeof two);
    two[1] = *frame;
    if (setsockopt(plain, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size) == 0) send(plain, two, sizeof two, 0);
    close(plain);
    close(halves);
    close(optional);
}

int main(int count, char** words) {
    static const toll_u8 kinds[] = {toll_signal, toll_pull,    toll_here,   toll_leave,   toll_gather,   toll_release,
                                    toll_join,   toll_welcome, toll_arrive, toll_timeout, toll_continue, toll_enrol};
    if (count < 8) return 2;
    const struct toll_key key = {strtoull(words[1], NULL, 16), 0}, guessed = {1, 2};
    const toll_u64 incarnation = strtoull(words[5], NULL, 16);
    const toll_u32 group = (toll_u32)atoi(words[2]), rank = (toll_u32)atoi(words[3]);
    struct toll_identity who = toll_identity_of(guessed, group, strtoull(words[6], NULL, 16));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(toll_port)};

    who.name = toll_name_of(key, group);
    for (int host = 7; host < count; ++host)
        for (toll_u32 step = 0; step < 2; ++step)
            for (unsigned kind = 0; kind < sizeof kinds; ++kind) {
                struct toll_frame frame = toll_unsealed(&who, incarnation, kinds[kind], (toll_u16)step, rank,
                                                        (toll_u32)(host - 7), (toll_u64)atoll(words[4]));
                const struct toll_sip sealing = toll_sealing(&who, incarnation, who.digest);
                frame.mac = toll_mac_of(&sealing, &frame);
                inet_pton(AF_INET, words[host], &to.sin_addr);
                send_all_ways(&frame, &to);
            }
    return 0;
}
