// SPDX-License-Identifier: Apache-2.0
// PEs of an OpenSHMEM have the properties every transport must have, through shared memory and over TCP.
#include "transports/desk_company.hpp"

#include <tollbar/shmem.h>

#include <doctest/doctest.h>

#include <csignal>
#include <deque>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

/// The experiments of bench/shmem/counters.cpp.
constexpr int first_counters = 1, last_counters = 6;
constexpr int amo64 = 2, posted_2 = 5;

struct Barrier {
    int signals;
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

class ShmemCompany : public DeskCompany {
public:
    explicit ShmemCompany(Rank pes) : DeskCompany(pes) {}

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
    std::deque<ShmemCompany> companies;
    std::vector<std::string> orders;
    for (const Barrier& barrier : barriers) {
        companies.emplace_back(pes);
        orders.push_back(std::to_string(companies.back().descriptor()) + ':' + std::to_string(barrier.signals) + ':' +
                         barrier.plan);
    }
    Job job(pes, through, orders);
    for (std::size_t i = 0; i < barriers.size(); ++i) {
        CAPTURE(pes);
        CAPTURE(barriers[i].signals);
        CAPTURE(barriers[i].plan);
        // Over a network only those who are heard directly are known to have come.
        companies[i].set(job, through == Through::shared_memory);
        CHECK(complaints(companies[i], lates(pes), {.episodes = 40, .late_every = 4, .mixed = true}) ==
              std::vector<std::string>());
        companies[i].stop();
    }
    CHECK(job.end() == 0);
}

std::vector<Barrier> every_way(Rank pes) {
    std::vector<Barrier> ways{{TOLLBAR_SHMEM_AUTO, ""}, {TOLLBAR_SHMEM_PUTS, ""}, {TOLLBAR_SHMEM_PUTS, "counter"}};
    for (const int signals : {int{TOLLBAR_SHMEM_PUTS}, int{TOLLBAR_SHMEM_STORES}})
        ways.push_back({signals, "dissemination"});
    for (int counters = first_counters; counters <= last_counters; ++counters)
        ways.push_back({counters, "dissemination"});
    for (const char* plan : {"central", "mcs", "tournament", "pairwise", "central@2/dissemination", "turnstile",
                             "combination", "turnstile@2/dissemination"})
        ways.push_back({TOLLBAR_SHMEM_PUTS, plan});
    ways.push_back({amo64, "mcs"});
    ways.push_back({TOLLBAR_SHMEM_STORES, "counter"});
    ways.push_back({TOLLBAR_SHMEM_STORES, "dissemination:" + std::to_string(pes)});
    return ways;
}

std::vector<Barrier> some_ways() {
    return {{TOLLBAR_SHMEM_PUTS, ""},
            {TOLLBAR_SHMEM_PUTS, "dissemination"},
            {posted_2, "dissemination"},
            {TOLLBAR_SHMEM_PUTS, "mcs"}};
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
