// SPDX-License-Identifier: Apache-2.0
// Processes that stop, die, fork and meet: nobody is let go early, and whoever waits in vain learns whose fault it is.
#include "toll.hpp"

#include "child.hpp"
#include "base/environment.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/time.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

/// Plans in which each rank has something to do for others after it has arrived, and one in which it has not.
constexpr const char* plans[] = {"turnstile", "combination:2", "dissemination", "mcs"};

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> texts(const std::vector<absent>& missing) {
    std::vector<std::string> texts;
    for (const absent& one : missing) texts.push_back(to_text(one));
    return texts;
}

std::string numbers(pid_t process) {
    return "(process " + std::to_string(process) + ", thread " + std::to_string(process) + ")";
}

/// A harness that the test can ask who is missing.
struct Observed {
    Observed(Rank ranks, const char* plan, wait_policy wait)
        : meeting_place(ranks, {.plan = plan, .wait = wait, .scope = Scope::shared}), harness(meeting_place) {
        for (Rank rank = 0; rank < ranks; ++rank) harness.begin(rank, Call::arrive_and_wait);  // all have joined then
        for (Rank rank = 0; rank < ranks; ++rank) harness.end(rank);
    }

    std::vector<std::string> missing() const { return texts(meeting_place.missing()); }

    group meeting_place;
    ProcessHarness harness;
};

}  // namespace

TEST_CASE("a stopped process is named as running, and all go on when it does") {
    for (const char* plan : plans)
        for (const wait_policy wait : all_policies) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            Observed all(3, plan, wait);
            all.harness.signal(1, SIGSTOP);
            for (const Rank rank : {0U, 2U}) all.harness.call(rank, Call::arrive);
            for (const Rank rank : {0U, 2U}) {
                const Answer answer = all.harness.call(rank, Call::timed_wait, 1);
                CHECK_FALSE(answer.done);
                CHECK(answer.missing == std::vector<Rank>{1});
            }
            CHECK(all.missing() == std::vector{"rank 1 " + numbers(all.harness.process(1)) + " has not arrived"});
            all.harness.begin(1, Call::arrive_and_wait);
            all.harness.signal(1, SIGCONT);
            for (const Rank rank : {0U, 2U}) all.harness.begin(rank, Call::wait);
            for (Rank rank = 0; rank < 3; ++rank) CHECK(all.harness.end(rank).done);
            CHECK(all.harness.unpaid() == 0);
        }
}

TEST_CASE("a killed process is named as dead, and those who wait for it time out for ever") {
    for (const char* plan : plans)
        for (const wait_policy wait : all_policies) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            Observed all(3, plan, wait);
            const std::string killed = "rank 1 " + numbers(all.harness.process(1)) + " is dead";
            all.harness.signal(1, SIGKILL);
            for (const Rank rank : {0U, 2U}) all.harness.call(rank, Call::arrive);
            for (int attempt = 0; attempt < 3; ++attempt)
                for (const Rank rank : {0U, 2U}) {
                    const Answer answer = all.harness.call(rank, Call::timed_wait, 1);
                    CHECK_FALSE(answer.done);
                    CHECK(answer.missing == std::vector<Rank>{1});
                }
            CHECK(all.missing() == std::vector{killed});
            CHECK(thrown_by([&] { all.meeting_place.join(1); }).find(", which is gone; the group must be made anew") !=
                  std::string::npos);
        }
}

TEST_CASE("a process that is killed after it arrived is named as well, for its part may be missing") {
    for (const char* plan : plans)
        for (const wait_policy wait : all_policies) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            Observed all(4, plan, wait);
            for (const Rank rank : {0U, 1U, 2U}) all.harness.call(rank, Call::arrive);
            const std::string killed = "rank 1 " + numbers(all.harness.process(1)) + " is dead";
            const std::string late = "rank 3 " + numbers(all.harness.process(3)) + " has not arrived";
            all.harness.signal(1, SIGKILL);
            CHECK(all.missing() == std::vector{killed, late});
            all.harness.call(3, Call::arrive);
            CHECK(all.missing() == std::vector{killed});
            CHECK(all.harness.unpaid() == 0);
            if (std::string_view(plan) == "dissemination") {  // then rank 2 lacks what rank 1 was to pass on
                const Answer answer = all.harness.call(2, Call::timed_wait, 1);
                CHECK_FALSE(answer.done);
                CHECK(answer.missing == std::vector<Rank>{1});
            }
        }
}

TEST_CASE("a child that ends does no harm to its parent's participants, nor to the group's name") {
    const std::string name = unique("fork");
    group group = group::open(name, 2, {.plan = "turnstile"});
    participant self = group.join(0);
    participant other = group.join(1);
    CHECK(in_child([] {}).succeeded());
    CHECK(in_child([&] {
              const participant mine = std::move(self);  // which its destructor must not give up
              const participant also_mine = std::move(other);
              const tollbar::group copy = std::move(group);
          }).succeeded());
    CHECK(exists(path_of(name)));
    CHECK(thrown_by([&] { group::open(name, 2).join(0); }) ==
          "rank 0 of group '" + name + "' is taken by process " + std::to_string(getpid()));
    self.arrive();
    other.arrive();
    CHECK(self.test());
    CHECK(other.test());
}

TEST_CASE("a child without a descriptor of its own leaves its parent's group alone") {
    const std::string name = unique("poor");
    group group = group::open(name, 2, {.plan = "turnstile"});
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const int next = dup(STDOUT_FILENO);
    close(next);
    const rlimit for_the_pipe{.rlim_cur = static_cast<rlim_t>(next) + 2, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &for_the_pipe);
    const Outcome outcome = in_child([&] { const tollbar::group copy = std::move(group); });
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(outcome.succeeded());
    CHECK(exists(path_of(name)));
}

TEST_CASE("the last to let go of a named group removes it") {
    const std::string name = unique("last");
    {
        const group first = group::open(name, 2, {.plan = "turnstile"});
        { const group second = group::open(name, 2); }
        CHECK(exists(path_of(name)));
    }
    CHECK_FALSE(exists(path_of(name)));
}

TEST_CASE("a child that joined keeps the name of a group that its parent has let go of") {
    const std::string name = unique("heir");
    auto inherited = std::make_unique<group>(group::open(name, 2, {.plan = "turnstile"}));
    ProcessHarness harness(1, [&](Rank, Board& board) {
        serve(*inherited, board, 0);
        inherited.reset();
    });
    harness.call(0, Call::arrive);  // then it has joined
    inherited.reset();
    CHECK(exists(path_of(name)));
    group again = group::open(name, 2);
    CHECK(ranks_of(again.missing()) == std::vector<Rank>{1});
    again.join(1).arrive_and_wait();
    CHECK(harness.call(0, Call::test).done);
}

TEST_CASE("a child that has not joined yet keeps the name as well") {
    const std::string name = unique("unborn");
    auto inherited = std::make_unique<group>(group::open(name, 2, {.plan = "turnstile"}));
    ProcessHarness harness(1, [&](Rank, Board& board) {
        serve(*inherited, board, 0);  // joins when it is first called
        inherited.reset();
    });
    inherited.reset();
    CHECK(exists(path_of(name)));
    group again = group::open(name, 2);
    harness.call(0, Call::arrive);
    CHECK(ranks_of(again.missing()) == std::vector<Rank>{1});
    again.join(1).arrive_and_wait();
    CHECK(harness.call(0, Call::test).done);
}

TEST_CASE("threads of a child join at once, and the name goes with the last of all") {
    constexpr Rank ranks = 4;
    const std::string name = unique("threads");
    for (int round = 0; round < 20; ++round) {
        auto inherited = std::make_unique<group>(group::open(name, ranks, {.plan = "turnstile"}));
        CHECK(in_child([&] {
                  std::atomic<Rank> ready{0};
                  std::vector<std::thread> threads;
                  for (Rank rank = 0; rank < ranks; ++rank)
                      threads.emplace_back([&, rank] {
                          ready.fetch_add(1);
                          while (ready.load() != ranks) std::this_thread::yield();
                          inherited->join(rank).arrive_and_wait();
                      });
                  for (std::thread& thread : threads) thread.join();
                  inherited.reset();
                  if (!exists(path_of(name))) _exit(1);  // the parent still has it
              }).succeeded());
        inherited.reset();
        CHECK_FALSE(exists(path_of(name)));
    }
}

TEST_CASE("of two processes with the same rank the second is told the first") {
    const std::string name = unique("same");
    group group = group::open(name, 2, {.plan = "mcs"});
    const participant self = group.join(1);
    const Outcome outcome = in_child([&] {
        tollbar::group same = group::open(name, 2);
        std::fputs(thrown_by([&] { same.join(1); }).c_str(), stderr);
    });
    CHECK(outcome.said == "rank 1 of group '" + name + "' is taken by process " + std::to_string(getpid()));
}

TEST_CASE("programs that know nothing but the name meet") {
    for (const char* plan : {"turnstile", "combination:2", "dissemination:2", "mcs", "central@2/tournament"})
        for (const Rank ranks : {2U, 5U, 8U}) {
            CAPTURE(plan);
            CAPTURE(ranks);
            const std::string name = unique("programs");
            ProcessHarness harness(ranks, [&](Rank rank, Board& board) {
                const std::string arguments[] = {name, std::to_string(ranks), std::to_string(rank), plan,
                                                 std::to_string(board.descriptor())};
                execl(TOLLBAR_VISITOR, TOLLBAR_VISITOR, arguments[0].c_str(), arguments[1].c_str(),
                      arguments[2].c_str(), arguments[3].c_str(), arguments[4].c_str(), nullptr);
                _exit(127);
            });
            CHECK(complaints(harness, {ranks - 1}, {.episodes = 10, .late_every = 2, .mixed = true}).empty());
        }
}

TEST_CASE("opening and waiting go on through a storm of signals in every process") {
    const std::string name = unique("storm");
    ProcessHarness harness(4, [&](Rank rank, Board& board) {
        struct sigaction handler {};
        handler.sa_handler = [](int) {};
        sigaction(SIGALRM, &handler, nullptr);
        const itimerval storm{.it_interval = {0, 200}, .it_value = {0, 200}};
        setitimer(ITIMER_REAL, &storm, nullptr);
        group group = group::open(name, 4, {.plan = "dissemination", .wait = wait_policy::park});
        serve(group, board, rank);
    });
    CHECK(complaints(harness, {0, 2}, {.episodes = 300, .late_every = 1, .mixed = true}).empty());
}
