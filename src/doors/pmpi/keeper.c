/* SPDX-License-Identifier: Apache-2.0
 * A conversation is four lines, each side's second one with a seal that only this run's processes can make:
 *
 *     ask 1 NONCE
 *     keeper 1 CHALLENGE SEAL
 *     here 1 CHALLENGE NONCE STEP RANK RANKS LIBRARY SEAL
 *     yes|no|wait SEAL
 *
 * A rank that has not yet said that it is here may go on without the keeper, whose answer cannot be yes then. One that
 * has said it asks again, with the same nonce, until it knows. python/tollbar/machine/keeper.py is the other side. */
#include "keeper.h"

#include "wire/siphash.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    tick_ms = 100,
    longest_tick_ms = 1000, /* longer ones: this process was stopped */
    unsaid_ms = 5000,       /* as long as the others wait for this rank */
    most_bytes = 700,       /* of a line */
};

struct keeper {
    struct toll_key key;
    char port[8];
    const char* host;
};

struct said {
    const struct tollbar_arrival* arrival;
    toll_u64 nonce;
    int is_said;
};

/* A time that goes on only while this process does. */
struct limit {
    int64_t last_ms;
    int64_t left_ms;
};

enum outcome { yes, no, later, broken, no_keeper };

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct limit limit_of(int64_t ms) { return (struct limit){now_ms(), ms}; }

static int is_over(struct limit* limit) {
    const int64_t now = now_ms(), passed = now - limit->last_ms;
    limit->last_ms = now;
    limit->left_ms -= passed < longest_tick_ms ? passed : longest_tick_ms;
    return limit->left_ms <= 0;
}

static void pause_for(int64_t ms, struct limit* limit) {
    for (const int64_t end = now_ms() + ms; now_ms() < end && !is_over(limit);) poll(NULL, 0, tick_ms);
}

/* Whether the socket is ready before the limit; looked at once more where that has passed. */
static int is_ready(int socket, short events, struct limit* limit) {
    for (;;) {
        struct pollfd one = {.fd = socket, .events = events};
        const int over = is_over(limit);
        if (poll(&one, 1, over ? 0 : tick_ms) > 0) return 1;
        if (over) return 0;
    }
}

static int find(const struct tollbar_arrival* arrival, struct keeper* self) {
    unsigned long long high, low;
    int end = 0;
    if (strlen(arrival->keeper) < 34) return 0;
    if (sscanf(arrival->keeper, "%16llx%16llx:%7[0-9]%n", &high, &low, self->port, &end) != 3) return 0;
    self->host = arrival->keeper[end] == ':' ? arrival->keeper + end + 1 : arrival->host;
    if (self->host == NULL) return 0;
    self->key = (struct toll_key){.low = low, .high = high};
    return 1;
}

/* The errno value of a connection that was under way. */
static int result_of(int socket, struct limit* limit) {
    int failed = 0;
    socklen_t size = sizeof failed;
    if (!is_ready(socket, POLLOUT, limit)) return ETIMEDOUT;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 ? failed : errno;
}

/* -1 where nobody answers; errno is ECONNREFUSED where nobody listens, or that is no address. */
static int connected(const struct keeper* self, struct limit* limit) {
    const struct addrinfo numbers = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo* to = NULL;
    if (getaddrinfo(self->host, self->port, &numbers, &to) != 0) {
        errno = ECONNREFUSED;
        return -1;
    }
    const int made = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int failed = made < 0 ? errno : 0;
    if (made >= 0 && connect(made, to->ai_addr, to->ai_addrlen) != 0)
        failed = errno == EINPROGRESS || errno == EINTR ? result_of(made, limit) : errno;
    freeaddrinfo(to);
    if (failed == 0) return made;
    if (made >= 0) close(made);
    errno = failed;
    return -1;
}

/* With its end; a line is shorter than what a new connection takes at once. */
static int say(int socket, const char* line) {
    const size_t size = strlen(line);
    return send(socket, line, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* The next line without its end, which is the last thing that has come. */
static int hear(int socket, char* line, size_t size, struct limit* limit) {
    for (size_t held = 0; held + 1 < size && is_ready(socket, POLLIN, limit);) {
        const ssize_t got = recv(socket, line + held, size - held - 1, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return 0;
        held += (size_t)got;
        line[held] = '\0';
        if (line[held - 1] != '\n') continue;
        line[held - 1] = '\0';
        return 1;
    }
    return 0;
}

static toll_u64 seal_of(const struct keeper* self, const char* text) {
    return toll_siphash(self->key, text, strlen(text));
}

static enum outcome answer_in(const struct keeper* self, const char* line, toll_u64 challenge, toll_u64 nonce) {
    static const struct {
        const char* word;
        enum outcome outcome;
    } answers[] = {{"yes", yes}, {"no", no}, {"wait", later}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
        char sealed[80], expected[40];
        snprintf(sealed, sizeof sealed, "%s %016llx %016llx", answers[i].word, (unsigned long long)challenge,
                 (unsigned long long)nonce);
        snprintf(expected, sizeof expected, "%s %016llx", answers[i].word, (unsigned long long)seal_of(self, sealed));
        if (strcmp(line, expected) == 0) return answers[i].outcome;
    }
    return broken;
}

static enum outcome converse(const struct keeper* self, int socket, struct said* said, struct limit* limit) {
    char line[most_bytes], text[most_bytes - 20]; /* a seal comes behind it */
    const struct tollbar_arrival* const arrival = said->arrival;
    unsigned long long challenge, seal;
    snprintf(line, sizeof line, "ask 1 %016llx\n", (unsigned long long)said->nonce);
    if (!say(socket, line) || !hear(socket, line, sizeof line, limit)) return broken;
    if (sscanf(line, "keeper 1 %16llx %16llx", &challenge, &seal) != 2) return no_keeper;
    snprintf(text, sizeof text, "keeper 1 %016llx %016llx", challenge, (unsigned long long)said->nonce);
    if (seal != seal_of(self, text)) return no_keeper;
    const int size = snprintf(text, sizeof text, "here 1 %016llx %016llx %s %d %d %s", challenge,
                              (unsigned long long)said->nonce, arrival->step, arrival->rank, arrival->ranks,
                              arrival->library);
    if (size >= (int)sizeof text) return no_keeper;
    snprintf(line, sizeof line, "%s %016llx\n", text, (unsigned long long)seal_of(self, text));
    if (!said->is_said) *limit = limit_of(arrival->limit_ms);
    said->is_said = 1;
    if (!say(socket, line) || !hear(socket, line, sizeof line, limit)) return broken;
    return answer_in(self, line, challenge, said->nonce);
}

static enum outcome ask(const struct keeper* self, struct said* said, struct limit* limit) {
    const int socket = connected(self, limit);
    if (socket < 0) return errno == ECONNREFUSED ? no_keeper : broken;
    const enum outcome outcome = converse(self, socket, said, limit);
    close(socket);
    return outcome;
}

enum tollbar_kept tollbar_ask_keeper(const struct tollbar_arrival* arrival) {
    enum { soon_ms = 200 };
    struct keeper keeper;
    struct said said = {.arrival = arrival};
    struct limit limit = limit_of(unsaid_ms);
    if (!find(arrival, &keeper) || getrandom(&said.nonce, sizeof said.nonce, 0) != sizeof said.nonce)
        return TOLLBAR_KEPT_NO;
    do {
        const enum outcome outcome = ask(&keeper, &said, &limit);
        if (outcome == yes) return TOLLBAR_KEPT_YES;
        if (outcome == no || (outcome == no_keeper && !said.is_said)) return TOLLBAR_KEPT_NO;
        /* Ranks that have to wait do not come again all at once. */
        pause_for(outcome == later ? 1000 + (int64_t)(said.nonce % 1000) : soon_ms + (int64_t)(said.nonce % soon_ms),
                  &limit);
    } while (!is_over(&limit));
    return said.is_said ? TOLLBAR_KEPT_LOST : TOLLBAR_KEPT_NO;
}
