// SPDX-License-Identifier: Apache-2.0
// PEs of an OpenSHMEM have the properties every transport must have, through shared memory and over TCP.
#include "transports/desk_harness.hpp"

#include <tollbar/shmem.h>

#include <doctest/doctest.h>

#include <csignal>
#include <deque>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

const std::string automatic = std::to_string(TOLLBAR_SHMEM_AUTO), puts = std::to_string(TOLLBAR_SHMEM_PUTS),
                  stores = std::to_string(TOLLBAR_SHMEM_STORES);

/// Signals of others(), with spaces between them; empty: those of the library are tried.
std::vector<std::string> other_signals() {
    std::istringstream words(TOLLBAR_SIGNALS);
    return {std::istream_iterator<std::string>(words), {}};
}

struct Barrier {
    std::string signals;
    std::string plan;
};

enum class Through : std::uint8_t { shared_memory, tcp };

/// A running job whose PEs go from one barrier to the next.
class Job {
public:
    Job(Rank pes, Through through, std::vector<std::string> orders) {
        std::istringstream launch(TOLLBAR_LAUNCH);
        std::vector<std::string> words{TOLLBAR_TESTS_DIR "/transports/shmem/start"};
        for (std::string word; launch >> word;) words.push_back(word);
        const std::string conductor = std::to_string(getpid());
        for (const std::string& word : {std::string("-np"), std::to_string(pes), std::string(TOLLBAR_VISITOR),
                                        std::string(through == Through::tcp ? "far" : "near"), conductor})
            words.push_back(word);
        words.insert(words.end(), orders.begin(), orders.end());
        child_ = fork();
        if (child_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (through == Through::tcp) setenv("UCX_TLS", "tcp,self", 1);
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        execv(arguments[0], arguments.data());
        _exit(127);
    }

    bool alive() {
        if (status_ < 0 && waitpid(child_, &status_, WNOHANG) == 0) status_ = -1;
        return status_ < 0;
    }

    /// How it ended.
    int end() {
        if (status_ < 0) waitpid(child_, &status_, 0);
        return status_;
    }

private:
    pid_t child_;
    int status_ = -1;
};

class ShmemHarness : public DeskHarness {
public:
    explicit ShmemHarness(Rank pes) : DeskHarness(pes) {}

    int descriptor() const { return board_.descriptor(); }
    void stop() {
        for (Rank rank = 0; rank < ranks(); ++rank) begin(rank, Call::stop);
    }
    void set(Job& job, bool names_exactly) {
        job_ = &job;
        names_exactly_ = names_exactly;
    }
    bool names_exactly() const override { return names_exactly_; }

protected:
    bool alive(Rank) override { return job_->alive(); }

private:
    Job* job_ = nullptr;
    bool names_exactly_ = true;
};

std::vector<Rank> lates(Rank pes) {
    if (pes < 3) return pes == 1 ? std::vector<Rank>{0} : std::vector<Rank>{0, 1};
    return {0, pes / 2, pes - 1};
}

void check(Rank pes, Through through, const std::vector<Barrier>& barriers) {
    std::deque<ShmemHarness> harnesses;
    std::vector<std::string> orders;
    for (const Barrier& barrier : barriers) {
        harnesses.emplace_back(pes);
        orders.push_back(std::to_string(harnesses.back().descriptor()) + ':' + barrier.signals + '/' + barrier.plan);
    }
    Job job(pes, through, orders);
    for (std::size_t i = 0; i < barriers.size(); ++i) {
        CAPTURE(pes);
        CAPTURE(barriers[i].signals);
        CAPTURE(barriers[i].plan);
        // Over a network only those who are heard directly are known to have come.
        harnesses[i].set(job, through == Through::shared_memory);
        CHECK(complaints(harnesses[i], lates(pes), {.episodes = 40, .late_every = 4, .mixed = true}) ==
              std::vector<std::string>());
        harnesses[i].stop();
    }
    CHECK(job.end() == 0);
}

std::vector<Barrier> every_other_way() {
    std::vector<Barrier> ways;
    for (const std::string& signals : other_signals())
        for (const char* plan : {"dissemination", "mcs"}) ways.push_back({signals, plan});
    return ways;
}

std::vector<Barrier> every_way(Rank pes) {
    if (!other_signals().empty()) return every_other_way();
    std::vector<Barrier> ways{{automatic, ""}, {puts, ""}, {puts, "counter"}};
    for (const std::string& signals : {puts, stores}) ways.push_back({signals, "dissemination"});
    for (const char* plan : {"central", "mcs", "tournament", "pairwise", "central@2/dissemination", "turnstile",
                             "combination", "turnstile@2/dissemination"})
        ways.push_back({puts, plan});
    ways.push_back({stores, "counter"});
    ways.push_back({stores, "dissemination:" + std::to_string(pes)});
    return ways;
}

std::vector<Barrier> some_ways() {
    if (!other_signals().empty()) return {{other_signals().back(), "dissemination"}};
    return {{puts, ""}, {puts, "dissemination"}, {puts, "mcs"}};
}

}  // namespace

TEST_CASE("PEs that share memory conform, whatever they run and however they signal") {
    for (const Rank pes : {1U, 2U, 3U, 4U, 5U}) check(pes, Through::shared_memory, every_way(pes));
}

TEST_CASE("many more PEs than CPUs conform") {
    for (const Rank pes : {8U, 16U}) check(pes, Through::shared_memory, some_ways());
}

TEST_CASE("PEs that talk over TCP conform") {
    for (const Rank pes : {2U, 3U, 5U}) check(pes, Through::tcp, some_ways());
}
