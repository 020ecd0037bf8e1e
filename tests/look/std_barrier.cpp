// SPDX-License-Identifier: Apache-2.0
// Three threads meet at a std::barrier; the second does not come. main waits in join() and has the barrier's address on
// its stack.
#include <barrier>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

[[gnu::noinline]] static void late() {
    pause();
    std::putchar(' ');
}

int main() {
    std::barrier<> barrier(3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&barrier, i] {
            barrier.arrive_and_wait();
            if (i == 1) late();
            barrier.arrive_and_wait();
        });
    std::puts("ready");
    std::fflush(stdout);
    for (std::thread& thread : threads) thread.join();
}
