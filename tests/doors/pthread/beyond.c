/* SPDX-License-Identifier: Apache-2.0
 * The door's behaviour beyond a barrier's promises, in one program:
 *
 *     beyond late FILE     a thread waits until FILE names what is missing
 *     beyond opened DOOR   a barrier of glibc's meets a door that is opened afterwards
 *     beyond forked        a child destroys and uses a barrier at which a thread of its parent waits */
#include "program.h"
#include "../await.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static int (*wait_at)(pthread_barrier_t*);

static void* wait_there(void* number) {
    (void)number;
    const int result = wait_at(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return NULL;
}

static void late(const char* file) {
    pthread_t others[2];
    wait_at = pthread_barrier_wait;
    CHECK(pthread_barrier_init(&barrier, NULL, 3) == 0);
    for (int i = 0; i < 2; ++i) CHECK(pthread_create(&others[i], NULL, wait_there, NULL) == 0);
    await_text(file, ": 1 of 3 threads have not arrived, threads ");
    wait_there(NULL);
    for (int i = 0; i < 2; ++i) CHECK(pthread_join(others[i], NULL) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

static void opened(const char* file) {
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    void* door = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    CHECK(door != NULL);
    *(void**)&wait_at = dlsym(door, "pthread_barrier_wait");
    CHECK(wait_at != NULL && wait_at != pthread_barrier_wait);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, wait_there, NULL) == 0);
    const int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    CHECK(pthread_join(other, NULL) == 0);
    int (*destroy)(pthread_barrier_t*);
    *(void**)&destroy = dlsym(door, "pthread_barrier_destroy");
    CHECK(destroy(&barrier) == 0);
    CHECK(dlclose(door) == 0);
}

static void forked(void) {
    pthread_t other;
    wait_at = pthread_barrier_wait;
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    CHECK(pthread_create(&other, NULL, wait_there, NULL) == 0);
    /* A program does not know what the door keeps in the object: the first bytes count arrivals, in glibc as well. */
    while (*(volatile int*)&barrier == 0) sched_yield();
    const pid_t child = fork();
    if (child == 0) {
        CHECK(pthread_barrier_destroy(&barrier) == 0);
        CHECK(pthread_barrier_init(&barrier, NULL, 4) == 0);
        in_threads(4, wait_there);
        CHECK(pthread_barrier_destroy(&barrier) == 0);
        exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    wait_there(NULL);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

int main(int count, char** arguments) {
    if (count == 3 && strcmp(arguments[1], "late") == 0)
        late(arguments[2]);
    else if (count == 3 && strcmp(arguments[1], "opened") == 0)
        opened(arguments[2]);
    else if (count == 2 && strcmp(arguments[1], "forked") == 0)
        forked();
    else
        return 2;
    printf("done\n");
    return 0;
}
