/* SPDX-License-Identifier: Apache-2.0
 * The promises of POSIX about barriers, and those that glibc keeps beyond them, in one program: promises CASE. The
 * first four cases check what glibc's own tests tst-barrier1 to tst-barrier4 check. */
#include "program.h"
#include "../await.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tollbar/toll.h>
#include <unistd.h>

static void alone(void) {
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    CHECK(pthread_barrier_init(&barrier, NULL, INT_MAX) == EINVAL);
    CHECK(pthread_barrier_init(&barrier, NULL, UINT_MAX) == EINVAL);
    CHECK(pthread_barrier_init(&barrier, NULL, INT_MAX - 1) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
    errno = 1234;
    for (int i = 0; i < 10; ++i) CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    CHECK(errno == 1234);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

/* A parent and its child meet in memory that they share; between two meetings one of them counts. */
static void two_processes(void* memory) {
    struct {
        pthread_barrier_t barrier;
        int serial, count;
    }* shared = memory;
    pthread_barrierattr_t attributes;
    int kind = -1;
    CHECK(pthread_barrierattr_init(&attributes) == 0);
    CHECK(pthread_barrierattr_getpshared(&attributes, &kind) == 0 && kind == PTHREAD_PROCESS_PRIVATE);
    CHECK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_barrier_init(&shared->barrier, &attributes, 2) == 0);
    CHECK(pthread_barrierattr_destroy(&attributes) == 0);
    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    for (int round = 0; round < 2000; ++round) {
        if ((child == 0) == (round % 2 == 0)) ++shared->count;
        if (is_serial(&shared->barrier)) ++shared->serial;
        is_serial(&shared->barrier);
        CHECK(shared->serial == round + 1 && shared->count == round + 1);
        is_serial(&shared->barrier);
    }
    if (child == 0) exit(0);
    CHECK(pthread_barrier_destroy(&shared->barrier) == 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void processes(void) {
    two_processes(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

static void processes_over_a_file(void) {
    const int file = memfd_create("barrier", 0);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    two_processes(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
}

/* Barrier k is of threads 0 to k; each counts there before it enters and finds all counts afterwards. */
enum { rounds = 20, staircase = 10 };
static pthread_barrier_t steps[staircase];
static int counts[staircase], serials[staircase];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void* climb(void* number) {
    for (int round = 1; round <= rounds; ++round)
        for (size_t step = (size_t)number; step < staircase; ++step) {
            const int members = (int)step + 1;
            pthread_mutex_lock(&counting);
            ++counts[step];
            pthread_mutex_unlock(&counting);
            if (is_serial(&steps[step])) ++serials[step];
            CHECK(counts[step] == round * members);
            is_serial(&steps[step]);
            CHECK(serials[step] == round);
            is_serial(&steps[step]);
        }
    return NULL;
}

static void stairs(void) {
    for (unsigned step = 0; step < staircase; ++step) CHECK(pthread_barrier_init(&steps[step], NULL, step + 1) == 0);
    in_threads(staircase, climb);
    for (int step = 0; step < staircase; ++step) CHECK(pthread_barrier_destroy(&steps[step]) == 0);
}

/* The serial thread destroys the barrier that the others may still leave, writes over it, and makes it anew. */
enum { crowd = 5 };
static pthread_barrier_t again, meanwhile;

static void* use_again(void* number) {
    (void)number;
    for (int round = 0; round < 3000; ++round) {
        if (is_serial(&again)) {
            CHECK(pthread_barrier_destroy(&again) == 0);
            memset(&again, 0xff, sizeof again);
            CHECK(pthread_barrier_init(&again, NULL, crowd) == 0);
        }
        if (is_serial(&meanwhile)) memset(&counts, 0, sizeof counts);
    }
    return NULL;
}

static void destroyed(void) {
    CHECK(pthread_barrier_init(&again, NULL, crowd) == 0 && pthread_barrier_init(&meanwhile, NULL, crowd) == 0);
    in_threads(crowd, use_again);
    CHECK(pthread_barrier_destroy(&again) == 0 && pthread_barrier_destroy(&meanwhile) == 0);
}

/* Everybody pays before and looks for all tolls after. */
static struct tollbar_toll tolls[crowd];

static void* pay(void* number) {
    const unsigned rank = (unsigned)(size_t)number;
    for (unsigned long episode = 1; episode <= 20000; ++episode) {
        tollbar_toll_pay(tolls, rank, episode);
        const int serial = is_serial(&again);
        CHECK(tollbar_toll_leave(tolls, crowd, rank, episode) == crowd);
        if (serial) __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void toll(void) {
    CHECK(pthread_barrier_init(&again, NULL, crowd) == 0);
    in_threads(crowd, pay);
    CHECK(counts[0] == 20000);
    CHECK(pthread_barrier_destroy(&again) == 0);
}

/* A thread that is cancelled while it waits passes the barrier, and ends at the next cancellation point. */
static int passed, went_on;

static void* be_cancelled(void* number) {
    (void)number;
    is_serial(&meanwhile);
    is_serial(&again);
    passed = 1;
    pthread_testcancel();
    went_on = 1;
    return NULL;
}

static void cancelled(void) {
    const char* report = getenv("TOLLBAR_REPORT"); /* where the waiting thread names who is missing */
    CHECK(pthread_barrier_init(&again, NULL, 2) == 0 && pthread_barrier_init(&meanwhile, NULL, 2) == 0);
    for (int waits = 0; waits < 2; ++waits) {
        pthread_t thread;
        void* result = NULL;
        passed = went_on = 0;
        CHECK(pthread_create(&thread, NULL, be_cancelled, NULL) == 0);
        is_serial(&meanwhile);
        if (waits && report != NULL) await_text(report, "have not arrived");
        if (waits && report == NULL) usleep(150000); /* it most likely sleeps */
        CHECK(pthread_cancel(thread) == 0);
        is_serial(&again);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED && passed == 1 && went_on == 0);
    }
    CHECK(pthread_barrier_destroy(&again) == 0 && pthread_barrier_destroy(&meanwhile) == 0);
}

/* A thread waits in destructors that run after all that its first wait has registered. */
enum { farewells = 3 };
static pthread_key_t key;
static int ended;

static void wait_once_more(void* left) {
    ++ended;
    is_serial(&again);
    is_serial(&meanwhile);
    if (left != (void*)1) pthread_setspecific(key, (char*)left - 1);
}

static void* end_slowly(void* number) {
    (void)number;
    is_serial(&again);
    CHECK(pthread_key_create(&key, wait_once_more) == 0);
    CHECK(pthread_setspecific(key, (void*)farewells) == 0);
    return NULL;
}

static void destructors(void) {
    for (int life = 0; life < 20; ++life) {
        CHECK(pthread_barrier_init(&again, NULL, 2) == 0 && pthread_barrier_init(&meanwhile, NULL, 2) == 0);
        pthread_t other;
        CHECK(pthread_create(&other, NULL, end_slowly, NULL) == 0);
        is_serial(&again);
        for (int farewell = 1; farewell <= farewells; ++farewell) {
            is_serial(&again);
            CHECK(ended == life * farewells + farewell);
            is_serial(&meanwhile);
        }
        CHECK(pthread_barrier_destroy(&again) == 0 && pthread_barrier_destroy(&meanwhile) == 0);
        CHECK(pthread_join(other, NULL) == 0 && pthread_key_delete(key) == 0);
    }
}

int main(int count, char** arguments) {
    static const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {
        {"alone", alone},         {"processes", processes}, {"file", processes_over_a_file}, {"stairs", stairs},
        {"destroyed", destroyed}, {"toll", toll},           {"destructors", destructors},    {"cancelled", cancelled}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        if (count == 2 && strcmp(arguments[1], cases[i].name) == 0) {
            cases[i].run();
            printf("done\n");
            return 0;
        }
    return 2;
}
