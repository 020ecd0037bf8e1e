/* SPDX-License-Identifier: Apache-2.0
 * A rank that asks a keeper on this host, and says what it has learned.
 *
 * usage: keeper_rank KEEPER RANK RANKS LIBRARY LIMIT_MS */
#include "doors/pmpi/keeper.h"

#include <stdio.h>
#include <stdlib.h>

int main(int words, char** word) {
    static const char* const learned[] = {"no", "yes", "lost"};
    if (words != 6) return 2;
    const struct tollbar_arrival arrival = {.keeper = word[1],
                                            .host = "127.0.0.1",
                                            .step = "4711.0",
                                            .library = word[4],
                                            .rank = atoi(word[2]),
                                            .ranks = atoi(word[3]),
                                            .limit_ms = atoi(word[5])};
    puts(learned[tollbar_ask_keeper(&arrival)]);
    return 0;
}
