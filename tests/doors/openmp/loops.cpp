// SPDX-License-Identifier: Apache-2.0
// The share of each thread in static loops of all four types, asked of the function that compiled code calls and of the
// runtime's own: loops THREADS prints how many answers differ, and which of the two has answered compiled code;
// loops THREADS who the latter alone.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <omp.h>
#include <random>
#include <type_traits>

template <class T, class Step = std::make_signed_t<T>>
using Deal = void(void*, int, int, int*, T*, T*, Step*, Step, Step);

extern "C" {
Deal<std::int32_t> __kmpc_for_static_init_4;
Deal<std::uint32_t> __kmpc_for_static_init_4u;
Deal<std::int64_t> __kmpc_for_static_init_8;
Deal<std::uint64_t> __kmpc_for_static_init_8u;
void __kmpc_for_static_fini(void*, int);
int __kmpc_global_thread_num(void*);
}

namespace {

constexpr int with_chunk = 33, without_chunk = 34;

std::atomic<long> asked{0}, differ{0};

template <class T>
struct Loop {
    T lower, upper;
    std::make_signed_t<T> step;
};

template <class T>
struct Share {
    bool operator==(const Share&) const = default;
    int last;
    T lower, upper;
    std::make_signed_t<T> stride;
};

template <class T>
Share<T> share(Deal<T>* deal, const Loop<T>& loop, int schedule, int thread) {
    Share<T> its{2, loop.lower, loop.upper, 0};
    deal(nullptr, thread, schedule, &its.last, &its.lower, &its.upper, &its.stride, loop.step, 3);
    __kmpc_for_static_fini(nullptr, thread);
    return its;
}

template <class T>
Deal<T>* own_of_runtime(const char* name) {
    Dl_info about;
    void* const function = dlsym(RTLD_DEFAULT, "omp_get_num_threads");  // which the preload leaves alone
    if (dladdr(function, &about) == 0) std::abort();
    return reinterpret_cast<Deal<T>*>(dlsym(dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD), name));
}

/// All loops between edges of the type and small numbers, and random ones, in the calling thread of a team.
template <class T>
void compare(Deal<T>* called, const char* name) {
    using Step = std::make_signed_t<T>;
    using Bounds = std::numeric_limits<T>;
    using Steps = std::numeric_limits<Step>;
    Deal<T>* const own = own_of_runtime<T>(name);
    const int thread = __kmpc_global_thread_num(nullptr);
    const auto look = [&](const Loop<T>& loop) {
        for (const int schedule : {without_chunk, with_chunk}) {
            if (schedule == with_chunk && (loop.step == 1 || loop.step == -1)) continue;  // libomp may divide by zero
            ++asked;
            if (share(called, loop, schedule, thread) != share(own, loop, schedule, thread)) ++differ;
        }
    };
    const T middle = static_cast<T>(Bounds::max() / 2 + 1);
    const std::array<T, 19> bounds{Bounds::min(),
                                   Bounds::min() + 1,
                                   Bounds::min() + 6,
                                   static_cast<T>(middle - 1),
                                   middle,
                                   middle + 1,
                                   static_cast<T>(-7),
                                   static_cast<T>(-1),
                                   0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   5,
                                   9,
                                   100,
                                   1001,
                                   Bounds::max() - 1,
                                   Bounds::max()};
    for (const T lower : bounds)
        for (const T upper : bounds)
            for (const Step step : {1, -1, 2, -2, 3, -3, 7, -100, 100'003}) look({lower, upper, step});
    for (const T lower : bounds)
        for (const T upper : bounds)
            for (const Step step : {Steps::min(), static_cast<Step>(Steps::min() + 1), Steps::max()})
                look({lower, upper, step});
    std::mt19937_64 random(static_cast<unsigned long>(thread) + 1);
    for (int i = 0; i < 3000; ++i) {
        const auto bits = random() % 64;
        const auto step = static_cast<Step>(random() >> random() % 64);
        look({static_cast<T>(random() >> bits), static_cast<T>(random() >> bits), step == 0 ? Step{1} : step});
    }
}

}  // namespace

int main(int, char** words) {
    int first = 0;
    std::atomic<int> of_first{0};
#pragma omp parallel num_threads(std::atoi(words[1]))
    {
#pragma omp master
        first = __kmpc_global_thread_num(nullptr);
        if (words[2] == nullptr) {
            compare(&__kmpc_for_static_init_4, "__kmpc_for_static_init_4");
            compare(&__kmpc_for_static_init_4u, "__kmpc_for_static_init_4u");
            compare(&__kmpc_for_static_init_8, "__kmpc_for_static_init_8");
            compare(&__kmpc_for_static_init_8u, "__kmpc_for_static_init_8u");
        }
        for (int turn = 0; turn < omp_get_num_threads(); ++turn) {  // the runtime believes what the first argument says
#pragma omp barrier
            if (turn == omp_get_thread_num())
                of_first += share<int>(&__kmpc_for_static_init_4, {0, 99, 1}, without_chunk, first).lower == 0 ? 1 : 0;
        }
#pragma omp barrier
#pragma omp master
        std::printf("%ld of %ld differ, dealt out by %s\n", differ.load(), asked.load(),
                    of_first == omp_get_num_threads() ? "the runtime" : "tollbar");
    }
    return differ == 0 ? 0 : 1;
}
