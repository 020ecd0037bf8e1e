/* SPDX-License-Identifier: Apache-2.0
 * Two ranks of a group meet; rank 1 comes once TEXT stands in FILE.
 *
 * usage: threads FILE TEXT */
#include "../await.h"

#include <tollbar/tollbar.h>

#include <pthread.h>

static const char* const* words;
static tollbar_group* group;

static void* late(void* unused) {
    tollbar_participant* self;
    await_text(words[1], words[2]);
    if (tollbar_group_join(group, 1, &self) == 0) tollbar_participant_arrive_and_wait(self);
    return unused;
}

int main(int count, const char* const* arguments) {
    pthread_t other;
    tollbar_participant* self;
    words = arguments;
    if (count != 3 || tollbar_group_create(2, NULL, &group) != 0 || tollbar_group_join(group, 0, &self) != 0) return 1;
    tollbar_participant_arrive(self); /* before the other one can: its wait is not over at once */
    pthread_create(&other, NULL, late, NULL);
    tollbar_participant_wait(self);
    pthread_join(other, NULL);
    puts(tollbar_group_plan(group));
    return 0;
}
