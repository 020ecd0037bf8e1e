// SPDX-License-Identifier: Apache-2.0
// Processes that share only a name meet in a group. Without arguments the program starts three copies of itself; or
// start `processes NAME RANKS RANK` by hand in as many terminals as there are ranks.
#include <tollbar/participant.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void take_part(const std::string& name, tollbar::Rank ranks, tollbar::Rank rank) {
    tollbar::group group = tollbar::group::open(name, ranks);
    tollbar::participant self = group.join(rank);
    for (int i = 0; i < 1000; ++i) self.arrive_and_wait();
    if (rank == 0) std::printf("%u processes have met 1000 times\n", static_cast<unsigned>(ranks));
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4) {
        take_part(arguments[1], static_cast<tollbar::Rank>(std::atoi(arguments[2])),
                  static_cast<tollbar::Rank>(std::atoi(arguments[3])));
        return 0;
    }
    const std::string name = "example-" + std::to_string(getpid());
    for (const char* rank : {"0", "1", "2"})
        if (fork() == 0) {
            execl("/proc/self/exe", arguments[0], name.c_str(), "3", rank, nullptr);
            _exit(127);
        }
    int failed = 0;
    for (int status = 0; wait(&status) > 0;) failed += status == 0 ? 0 : 1;
    return failed == 0 ? 0 : 1;
}
