// SPDX-License-Identifier: Apache-2.0
// Three threads, or as many as the program is told, meet at a std::barrier, or a boost::barrier with -DBOOST; to the
// second meeting the second does not come, which says so. main waits in join() and has the barrier's address on its
// stack.
#ifdef BOOST
#    include <boost/thread/barrier.hpp>
#else
#    include <barrier>
#endif
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

#ifdef BOOST
using Barrier = boost::barrier;
static void meet(Barrier& barrier) { barrier.wait(); }
#else
using Barrier = std::barrier<>;
static void meet(Barrier& barrier) { barrier.arrive_and_wait(); }
#endif

[[gnu::noinline]] static void late() {
    pause();
    std::putchar(' ');
}

int main(int words, char** word) {
    const unsigned members = words > 1 ? static_cast<unsigned>(std::atoi(word[1])) : 3;
    Barrier barrier(members);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < members; ++i)
        threads.emplace_back([&barrier, i] {
            meet(barrier);
            if (i == 1) {
                std::puts("ready");
                std::fflush(stdout);
                late();
            }
            meet(barrier);
        });
    for (std::thread& thread : threads) thread.join();
}
