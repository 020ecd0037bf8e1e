// SPDX-License-Identifier: Apache-2.0
// Random OpenMP programs: random SEED COUNT THREADS runs that many, each a few regions whose threads all go through the
// same constructs, which the seed says. Prints how many tolls were missing and a result that only the seeds decide.
#include "tolls.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

bool may_cancel = false;

/// The same numbers in every thread that begins with the same seed.
class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}

    int below(int end) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(end));
    }

private:
    std::uint64_t state_;
};

/// The state that the threads of a region share.
struct Shared {
    Tolls tolls;
    std::atomic<long> count{0};
    long order = 0, sum = 0;
};

void region(std::uint64_t seed, int threads, int depth);

void loop(int kind, int length, long weight) {
    switch (kind) {
        case 0:
#pragma omp for schedule(static)
            for (int i = 0; i < length; ++i) add(i * weight);
            break;
        case 1:
#pragma omp for schedule(static, 3)
            for (int i = 0; i < length; ++i) add(i * weight);
            break;
        case 2:
#pragma omp for schedule(dynamic, 2)
            for (int i = 0; i < length; ++i) add(i * weight);
            break;
        case 3:
#pragma omp for schedule(guided)
            for (long i = 0; i < length; ++i) add(i * weight);
            break;
        case 4:
#pragma omp for schedule(dynamic) collapse(2)
            for (int i = 0; i < length; ++i)
                for (int j = 0; j < 2; ++j) add((i + j) * weight);
            break;
        default: {
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < length; ++i) add(i * weight);
#pragma omp barrier
        }
    }
}

void ordered(Shared& shared, int length, bool crosses) {
    if (crosses) {
#pragma omp for ordered(1) schedule(dynamic)
        for (int i = 0; i < length; ++i) {
#pragma omp ordered depend(sink : i - 1)
            shared.order = (shared.order * 17 + i) % 1000003;
#pragma omp ordered depend(source)
        }
    } else {
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < length; ++i) {
#pragma omp ordered
            shared.order = (shared.order * 31 + i) % 1000003;
        }
    }
#pragma omp single
    add(shared.order);
}

void sections(long weight, bool waits) {
    if (waits) {
#pragma omp sections
        {
#pragma omp section
            add(weight);
#pragma omp section
            add(3 * weight);
        }
        return;
    }
#pragma omp sections nowait
    {
#pragma omp section
        add(weight);
#pragma omp section
        add(5 * weight);
    }
#pragma omp barrier
}

void copied(long weight) {
    long given = 0;
    int other = 0;
#pragma omp single copyprivate(given, other)
    {
        given = 3 * weight;
        other = 2;
    }
    add(given * other);
}

void summed(Shared& shared, int length) {
    long& sum = shared.sum;
    long own = 0;
#pragma omp for nowait
    for (int i = 0; i < length; ++i) own += i;
#pragma omp critical
    sum += own;
#pragma omp barrier
#pragma omp single
    {
        add(sum);
        sum = 0;
    }
}

/// Whoever leaves the barrier after them finds all tasks done.
void tasks(Shared& shared, int kind, int count) {
    const int all = omp_get_num_threads();
    long expected = count;
    if (kind == 0) {
#pragma omp single
        for (int i = 0; i < count; ++i) {
#pragma omp task shared(shared)
            ++shared.count;
        }
    } else if (kind == 1) {
        expected = 2L * all;
#pragma omp task shared(shared)
        {
            ++shared.count;
#pragma omp task shared(shared)
            ++shared.count;
        }
#pragma omp barrier
    } else if (kind == 2) {
#pragma omp master
        {
#pragma omp taskloop grainsize(1) shared(shared)
            for (int i = 0; i < count; ++i) ++shared.count;
        }
#pragma omp barrier
    } else if (kind == 3) {
        expected = omp_get_num_threads();
        long made = 0;
#pragma omp taskgroup task_reduction(+ : made)
        {
#pragma omp task in_reduction(+ : made)
            ++made;
        }
        shared.count += made;
#pragma omp barrier
    } else {
        expected = 2;
#pragma omp single nowait
        {
#pragma omp task shared(shared) depend(out : shared.sum)
            ++shared.count;
#pragma omp task shared(shared) depend(in : shared.sum) if (0)
            ++shared.count;
#pragma omp taskwait
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < count; ++i) add(i);
    }
    if (shared.count != expected) ++early;
#pragma omp barrier
#pragma omp single
    shared.count = 0;
}

void cancelled(int length) {
#pragma omp for
    for (int i = 0; i < length; ++i) {
#pragma omp cancellation point for
        if (!may_cancel) add(i);
        if (i == length / 2) {
#pragma omp cancel for
        }
    }
}

void step(Numbers& numbers, Shared& shared, int depth) {
    const int weight = 1 + numbers.below(9), length = 1 + numbers.below(20), kind = numbers.below(64);
    switch (numbers.below(13)) {
        case 0:
        case 1:
        case 2: {
#pragma omp barrier
            return;
        }
        case 3:
        case 4: return loop(kind % 6, length, weight);
        case 5: return ordered(shared, length % 6 + 1, kind % 3 == 0);
        case 6: return sections(weight, kind % 2 == 0);
        case 7:
#pragma omp single
            add(weight);
            return;
        case 8: return copied(weight);
        case 9: return summed(shared, length);
        case 10: {
            if (kind < 24) return tasks(shared, kind % 5, length);
#pragma omp barrier
            return;
        }
        case 11: return cancelled(length);
        default: {
            if (depth < 2 && kind < 8) region(static_cast<std::uint64_t>(weight), 1 + kind % 3, depth + 1);
#pragma omp barrier
        }
    }
}

void region(std::uint64_t seed, int threads, int depth) {
    Shared shared;
#pragma omp parallel num_threads(threads)
    {
        Numbers numbers(seed);
        const int steps = 3 + numbers.below(depth == 0 ? 10 : 3);
        for (int episode = 1; episode <= steps; ++episode) {
            shared.tolls.pay(episode);
            step(numbers, shared, depth);
            shared.tolls.check(episode);
        }
    }
}

/// Reductions of variables that have to be the region's own.
void reductions(std::uint64_t seed, int threads) {
    Tolls tolls;
    long sum = 0, most = 0;
#pragma omp parallel num_threads(threads)
    {
        Numbers numbers(seed);
        const int steps = numbers.below(6);
        for (int episode = 1; episode <= steps; ++episode) {
            const int length = 1 + numbers.below(20), kind = numbers.below(4);
            tolls.pay(episode);
            if (kind == 0) {
#pragma omp for reduction(+ : sum)
                for (int i = 0; i < length; ++i) sum += i;
            } else if (kind == 1) {
#pragma omp for reduction(max : most) reduction(+ : sum) schedule(dynamic)
                for (int i = 0; i < length; ++i) sum += (most = std::max(most, 7L * i)) >= 7L * i;
            } else if (kind == 2) {
#pragma omp sections reduction(+ : sum)
                {
#pragma omp section
                    sum += length;
#pragma omp section
                    sum += 2;
                }
            } else {
#pragma omp for reduction(task, + : sum)
                for (int i = 0; i < length; ++i) {
#pragma omp task in_reduction(+ : sum)
                    sum += i;
                }
            }
            tolls.check(episode);
#pragma omp single
            add(sum + most);
        }
    }
}

void program(std::uint64_t seed, int threads) {
    Numbers numbers(seed);
    const int regions = 1 + numbers.below(4);
    for (int i = 0; i < regions; ++i)
        region(seed * 131 + static_cast<std::uint64_t>(i), numbers.below(3) == 0 ? 1 + numbers.below(threads) : threads,
               0);
    reductions(seed, 1 + numbers.below(threads));
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) return 2;
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    may_cancel = omp_get_cancellation() != 0;
    const int first = std::atoi(words[1]), programs = std::atoi(words[2]), threads = std::atoi(words[3]);
    for (int i = first; i < first + programs; ++i) {
        program(static_cast<std::uint64_t>(i), threads);
        std::printf("%d: %ld early, %ld\n", i, early.load(), result.load());
        std::fflush(stdout);
    }
    return early == 0 ? 0 : 1;
}
