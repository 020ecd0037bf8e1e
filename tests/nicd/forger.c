/* SPDX-License-Identifier: Apache-2.0
 * Posts an arrival as a member's library does, check and all: what keeps it from counting is whose process this is.
 *
 *     forger KEY GROUP RANK EPISODE ADDRESS */
#include "runtime/frame.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int count, char** words) {
    if (count != 6) return 2;
    const struct toll_frame frame = toll_sealed(toll_arrive, 0, toll_net64(strtoull(words[1], NULL, 16)),
                                                toll_net32((toll_u32)atoi(words[2])), (toll_u32)atoi(words[3]),
                                                (toll_u64)atoll(words[4]), 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(toll_port)};
    inet_pton(AF_INET, words[5], &to.sin_addr);
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(any, &frame, sizeof frame, 0, (const struct sockaddr*)&to, sizeof to); /* that it is dropped is no error */
    return 0;
}
