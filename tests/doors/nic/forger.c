/* SPDX-License-Identifier: Apache-2.0
 * Posts an arrival as a member's library does, check and all: what keeps it from counting is whose process this is.
 *
 *     forger KEY GROUP RANK EPISODE ADDRESS */
#include "transports/wire/frame.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int count, char** words) {
    if (count != 6) return 2;
    struct toll_frame frame = {.magic = toll_net32(toll_magic),
                               .kind = toll_arrive,
                               .key = toll_net64(strtoull(words[1], NULL, 16)),
                               .group = toll_net32((toll_u32)atoi(words[2])),
                               .source = toll_net32((toll_u32)atoi(words[3])),
                               .episode = toll_net64((toll_u64)atoll(words[4]))};
    frame.check = toll_net32(toll_check(&frame));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(toll_port)};
    inet_pton(AF_INET, words[5], &to.sin_addr);
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(any, &frame, sizeof frame, 0, (const struct sockaddr*)&to, sizeof to); /* that it is dropped is no error */
    return 0;
}
