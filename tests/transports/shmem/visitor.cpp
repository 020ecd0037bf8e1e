// SPDX-License-Identifier: Apache-2.0
// A PE that makes one barrier after the other and does at each what its desk says.
//
// usage: shmem_visitor near|far CONDUCTOR DESCRIPTOR:SIGNALS:PLAN...      (PLAN may be empty; the boards are
// CONDUCTOR's)
#include "counters.hpp"
#include "transports/visitor.hpp"

#include "doors/shmem/barrier.hpp"

#include <tollbar/shmem.h>

#include <algorithm>

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

/// Open MPI answers other PEs only while it is called; an idle PE calls it.
void (*answer)() = nullptr;

void demand(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "PE %d: %s: %s\n", shmem_my_pe(), what, tollbar_shmem_last_error());
    shmem_global_exit(1);
}

class Near {
public:
    explicit Near(tollbar_shmem_barrier* barrier) : barrier_(barrier) {}

    void arrive() { demand(tollbar_shmem_barrier_post(barrier_) == 0, "post"); }
    void wait() { demand(tollbar_shmem_barrier_wait(barrier_) == 0, "wait"); }
    void arrive_and_wait() { demand(tollbar_shmem_barrier_post_and_wait(barrier_) == 0, "post and wait"); }

    bool test() {
        const int error = tollbar_shmem_barrier_test(barrier_);
        demand(error == 0 || error == EAGAIN, "test");
        return error == 0;
    }

    bool wait_for(std::chrono::milliseconds limit) {
        const auto until = tollbar_shmem_now() + std::chrono::nanoseconds(limit).count();
        const int error = tollbar_shmem_barrier_wait_until(barrier_, until, nullptr, 0, nullptr);
        demand(error == 0 || error == ETIMEDOUT, "wait until");
        return error == 0;
    }

    std::vector<Rank> missing() const {
        std::vector<int> pes(static_cast<std::size_t>(shmem_n_pes()));
        std::size_t count = 0;
        demand(tollbar_shmem_barrier_missing(barrier_, pes.data(), pes.size(), &count) == 0, "missing");
        return {pes.begin(), pes.begin() + static_cast<std::ptrdiff_t>(count)};
    }

private:
    tollbar_shmem_barrier* barrier_;
};

class Far : public Near {
public:
    using Near::Near;
    void idle() {
        if (answer != nullptr) answer();
    }
};

int number(std::string_view text) {
    int value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

template <class M>
void visit(const std::string& conductor, std::string_view order) {
    const std::string_view descriptor = order.substr(0, order.find(':'));
    const std::string_view signals = order.substr(descriptor.size() + 1, 1);
    const std::string plan(order.substr(descriptor.size() + 3));

    const std::string board = "/proc/" + conductor + "/fd/" + std::string(descriptor);
    tollbar_shmem_options options{};
    options.plan = plan.c_str();
    options.signals = number(signals);
    const auto counters = std::ranges::find_if(bench::counter_kinds,
                                               [&](const auto& one) { return one.kind.number == options.signals; });
    tollbar_shmem_barrier* barrier = nullptr;
    demand(shmem::create(nullptr, options, counters == bench::counter_kinds.end() ? nullptr : &counters->kind,
                         &barrier) == 0,
           "create");
    Board shared(static_cast<Rank>(shmem_n_pes()), open(board.c_str(), O_RDWR | O_CLOEXEC));
    Visitor<M>(M(barrier), shared, static_cast<Rank>(shmem_my_pe())).serve();
    demand(tollbar_shmem_barrier_destroy(barrier) == 0, "destroy");
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shmem_init();
    answer = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "opal_progress"));
    const bool far = std::string_view(arguments[1]) == "far";
    for (int i = 3; i < count; ++i) (far ? visit<Far> : visit<Near>)(arguments[2], arguments[i]);
    shmem_finalize();
}
