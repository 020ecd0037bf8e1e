// SPDX-License-Identifier: Apache-2.0
// A PE that makes one barrier after the other and does at each what its desk says.
//
// usage: shmem_visitor near|far CONDUCTOR DESCRIPTOR:SIGNALS/PLAN...      (SIGNALS is a number of shmem.h's or a name
// of others(); PLAN may be empty; the boards are CONDUCTOR's)
#include "serving.hpp"

#include <tollbar/shmem.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

void demand(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "PE %d: %s: %s\n", shmem_my_pe(), what, tollbar_shmem_last_error());
    shmem_global_exit(1);
}

class Split {
public:
    explicit Split(tollbar_shmem_barrier* barrier) : barrier_(barrier) {}

    void arrive() { demand(tollbar_shmem_barrier_post(barrier_) == 0, "post"); }
    void wait() { demand(tollbar_shmem_barrier_wait(barrier_) == 0, "wait"); }
    void arrive_and_wait() { demand(tollbar_shmem_barrier_post_and_wait(barrier_) == 0, "post and wait"); }

    bool test() {
        const int error = tollbar_shmem_barrier_test(barrier_);
        demand(error == 0 || error == EAGAIN, "test");
        return error == 0;
    }

    bool wait_for(std::chrono::milliseconds limit) {
        const int error = tollbar_shmem_barrier_wait_for(barrier_, std::chrono::nanoseconds(limit).count());
        demand(error == 0 || error == ETIMEDOUT, "wait for");
        return error == 0;
    }

    std::vector<Rank> missing() const {
        std::vector<tollbar_missing> list(static_cast<std::size_t>(shmem_n_pes()));
        std::size_t count = 0;
        demand(tollbar_shmem_barrier_missing(barrier_, list.data(), list.size(), &count) == 0, "missing");
        std::vector<Rank> pes;
        for (std::size_t i = 0; i < count; ++i) pes.push_back(list[i].rank);
        return pes;
    }

private:
    tollbar_shmem_barrier* barrier_;
};

std::uint32_t number(std::string_view text) {
    std::uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void visit(const std::string& conductor, std::string_view order, bool far) {
    const std::string_view descriptor = order.substr(0, order.find(':'));
    order.remove_prefix(descriptor.size() + 1);
    const std::string signals(order.substr(0, order.find('/')));
    const std::string plan(order.substr(signals.size() + 1));

    const std::string path = "/proc/" + conductor + "/fd/" + std::string(descriptor);
    Board board(static_cast<Rank>(shmem_n_pes()), open(path.c_str(), O_RDWR | O_CLOEXEC));
    for (const ServeOther serves : others())
        if (serves(signals, plan, board, far)) return;
    tollbar_shmem_options options{};
    options.plan = plan.c_str();
    options.signals = static_cast<tollbar_shmem_signals>(number(signals));
    tollbar_shmem_barrier* barrier = nullptr;
    demand(tollbar_shmem_barrier_create(nullptr, &options, &barrier) == 0, "create");
    serve<Split>(barrier, board, far);
    demand(tollbar_shmem_barrier_destroy(barrier) == 0, "destroy");
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shmem_init();
    answer = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "opal_progress"));
    const bool far = std::string_view(arguments[1]) == "far";
    for (int i = 3; i < count; ++i) visit(arguments[2], arguments[i], far);
    shmem_finalize();
}
