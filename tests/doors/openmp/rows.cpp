// SPDX-License-Identifier: Apache-2.0
// Every construct that waits, by name: rows NAME THREADS prints how many tolls were missing and a result.
#include "tolls.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

[[gnu::noinline]] void orphaned_barrier() {
#pragma omp barrier
}

[[gnu::noinline]] void orphaned_loop(long* sum) {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 9; ++i) {
#pragma omp atomic
        *sum += i;
    }
}

void barrier() {
    repeat([](long) {
#pragma omp barrier
    });
}

void orphaned() {
    repeat([](long) { orphaned_barrier(); });
    long sum = 0;
    repeat([&](long) { orphaned_loop(&sum); });
    add(sum);
}

void loop_static() {
    repeat([](long episode) {
#pragma omp for schedule(static, 2)
        for (int i = 0; i < 11; ++i) add(i * episode);
#pragma omp for schedule(static)
        for (unsigned long i = 50; i > 2; i -= 5) add(static_cast<long>(i) * episode * (1 + omp_get_thread_num()));
    });
}

void loop_dynamic() {
    repeat([](long episode) {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 11; ++i) add(i * episode);
    });
}

void loop_guided() {
    repeat([](long episode) {
#pragma omp for schedule(guided)
        for (unsigned long long i = 0; i < 11; ++i) add(static_cast<long>(i) * episode);
    });
}

void loop_runtime() {
    repeat([](long episode) {
#pragma omp for schedule(runtime)
        for (int i = 0; i < 11; ++i) add(i * episode);
    });
}

void loop_ordered() {
    long order = 0;
    repeat([&](long) {
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 9; ++i) {
#pragma omp ordered
            order = (order * 31 + i) % 1000003;
        }
    });
    add(order);
}

void doacross() {
    static volatile long cells[12];
    repeat([](long episode) {
#pragma omp for ordered(1)
        for (int i = 1; i < 12; ++i) {
#pragma omp ordered depend(sink : i - 1)
            cells[i] = cells[i - 1] + episode;
#pragma omp ordered depend(source)
        }
    });
    add(cells[11]);
}

long sum_of_loop = 0;

void sum_in_loop() {
#pragma omp for reduction(+ : sum_of_loop)
    for (int i = 0; i < 13; ++i) sum_of_loop += i;
}

void lastprivate() {
    long last = 0;
#pragma omp parallel num_threads(threads)
    for (long episode = 1; episode <= 60; ++episode) {
#pragma omp for lastprivate(last) schedule(static, 2)
        for (int i = 0; i < 7; ++i) last = i * episode;
        if (last != 6 * episode) ++early;
#pragma omp barrier
    }
    add(last);
}

void sections() {
    repeat([](long episode) {
#pragma omp sections
        {
#pragma omp section
            add(episode);
#pragma omp section
            add(2 * episode);
#pragma omp section
            add(3 * episode);
        }
    });
}

void single() {
    repeat([](long episode) {
#pragma omp single
        add(episode);
    });
}

void copyprivate() {
    repeat([](long episode) {
        long given = 0;
#pragma omp single copyprivate(given)
        given = 7 * episode;
        add(given);
    });
}

void reduction() {
    repeat([](long) { sum_in_loop(); });
    add(sum_of_loop);
}

void master_and_critical() {
    long sum = 0;
    repeat([&](long) {
#pragma omp master
        add(1);
#pragma omp critical
        ++sum;
#pragma omp barrier
    });
    add(sum);
}

void parallel_loops() {
    for (int round = 0; round < 30; ++round) {
        long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 20; ++i) sum += i;
#pragma omp parallel for num_threads(threads) schedule(guided)
        for (int i = 0; i < 20; ++i) add(i);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int i = 0; i < 20; ++i) add(i);
#pragma omp parallel for num_threads(threads) schedule(runtime)
        for (int i = 0; i < 20; ++i) add(i);
#pragma omp parallel sections num_threads(threads)
        {
#pragma omp section
            add(sum);
#pragma omp section
            add(1);
        }
    }
}

void nested() {
    repeat([](long episode) {
        if (episode > 10) return orphaned_barrier();
        Tolls inner;
#pragma omp parallel num_threads(2)
        for (long i = 1; i <= 3; ++i) {
            inner.pay(i);
#pragma omp barrier
            inner.check(i);
        }
#pragma omp parallel if (0)
        {
#pragma omp barrier
            add(omp_get_num_threads());
        }
#pragma omp barrier
    });
}

void changing_size() {
    for (int size = 1; size <= 8; ++size)
        for (const int of : {size, 9 - size}) {
            threads = of;
            barrier();
        }
}

void many_captured() {
    long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15,
         p = 16, q = 17, r = 18, s = 19, t = 20;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp single
        {
            t += a + b * c + d * e + f * g + h * i + j * k + l * m + n * o + p * q + r * s;
            a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = s = 0;
        }
        add(t);
    }
    add(a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s);
}

void tasks_of_single() {
    repeat([](long episode) {
        if (episode < 4) return orphaned_barrier();
        static std::atomic<long> done;
        done = 0;
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 20; ++i) {
#pragma omp task
            ++done;
        }
        if (done != 20) ++early;
        add(done);
#pragma omp barrier
    });
}

void tasks_of_all() {
    std::atomic<long> done{0};
    repeat([&](long episode) {
#pragma omp task shared(done)
        {
#pragma omp task shared(done)
            ++done;
            ++done;
        }
#pragma omp barrier
        if (done < 2 * episode * threads) ++early;
#pragma omp barrier
    });
    add(done);
}

/// A task that a thread runs while its maker waits for it in vain unless others, who sleep at the barrier, help.
void tasks_need_others() {
    repeat([](long episode) {
        static std::atomic<long> ran;
        if (episode > 10) return orphaned_barrier();
        ran = 0;
#pragma omp barrier
#pragma omp single
        if (threads > 1) {
#pragma omp task
            ++ran;
            while (ran == 0) {
            }
        }
    });
}

/// The last task of a region opens another while threads still leave the barrier before.
void regions_of_last_tasks() {
    for (int round = 0; round < 500; ++round) {
#pragma omp parallel num_threads(threads)
        {
#pragma omp barrier
#pragma omp master
#pragma omp task
            {
#pragma omp parallel num_threads(1 + round % 2)
                {
#pragma omp barrier
                    add(round);
                }
            }
        }
    }
}

void taskloops() {
    repeat([](long episode) {
#pragma omp single
#pragma omp taskloop grainsize(2)
        for (int i = 0; i < 10; ++i) add(i * episode);
#pragma omp single nowait
#pragma omp taskgroup
        {
#pragma omp task
            add(episode);
        }
#pragma omp barrier
    });
}

void dependent_tasks() {
    long chain = 0;
    repeat([&](long) {
#pragma omp single
        for (int i = 0; i < 6; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            chain = (chain * 3 + i) % 10007;
        }
    });
    add(chain);
}

void cancelled() {
    repeat([](long) {
#pragma omp for
        for (int i = 0; i < 50; ++i) {
#pragma omp cancellation point for
            if (i == 49) {
#pragma omp cancel for
            }
        }
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
            }
#pragma omp section
            early += 0;
        }
#pragma omp barrier
    });
}

void league() {
#pragma omp teams num_teams(2) thread_limit(2)
    {
        Tolls tolls;
#pragma omp parallel num_threads(2)
        for (long i = 1; i <= 20; ++i) {
            tolls.pay(i);
#pragma omp barrier
            tolls.check(i);
        }
    }
}

const std::map<std::string, void (*)()> rows{
    {"barrier", barrier},
    {"orphaned", orphaned},
    {"loop_static", loop_static},
    {"loop_dynamic", loop_dynamic},
    {"loop_guided", loop_guided},
    {"loop_runtime", loop_runtime},
    {"loop_ordered", loop_ordered},
    {"doacross", doacross},
    {"lastprivate", lastprivate},
    {"sections", sections},
    {"single", single},
    {"copyprivate", copyprivate},
    {"reduction", reduction},
    {"master_and_critical", master_and_critical},
    {"parallel_loops", parallel_loops},
    {"nested", nested},
    {"changing_size", changing_size},
    {"many_captured", many_captured},
    {"tasks_of_single", tasks_of_single},
    {"tasks_of_all", tasks_of_all},
    {"tasks_need_others", tasks_need_others},
    {"regions_of_last_tasks", regions_of_last_tasks},
    {"taskloops", taskloops},
    {"dependent_tasks", dependent_tasks},
    {"cancelled", cancelled},
    {"league", league},
};

}  // namespace

int main(int count, char** words) {
    if (count == 1)
        for (const auto& row : rows) std::puts(row.first.c_str());
    if (count != 3) return 2;
    threads = std::atoi(words[2]);
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    rows.at(words[1])();
    std::printf("%ld early, %ld\n", early.load(), result.load());
    return early == 0 ? 0 : 1;
}
