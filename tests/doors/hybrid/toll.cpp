// SPDX-License-Identifier: Apache-2.0
// Every thread of every rank pays its toll before the barrier, and must find everybody's after it; each of them is
// late in turn. Arguments: the thread level, then INNER and OUTER in turn ("-" for none).
#include "job.hpp"

#include <tollbar/mpi.hpp>

#include <map>

namespace {

constexpr unsigned most_threads = 5;

struct Slot {
    std::uint64_t toll = 0;  ///< plain: only the barrier orders it
    std::atomic<std::uint64_t> entering{0};
    std::atomic<std::uint64_t> left{0};
};

/// Ranks and threads that meet at one barrier.
class Crossing {
public:
    Crossing(const Job& job, const Everywhere<Slot>& slots, unsigned threads, const std::string& inner,
             const std::string& outer)
        : job_(job), slots_(slots), threads_(threads), all_(job.ranks() * threads), first_(first_of_all_),
          what_(inner + " inside, " + outer + " outside, " + std::to_string(threads) + " threads: "),
          barrier_(MPI_COMM_WORLD, threads, inner, outer) {
        const bool funneled = job.level() == MPI_THREAD_FUNNELED || threads == 1;
        const bool last = !funneled && barrier_.inner() == "turnstile";
        job.expect(barrier_.messenger() == (last ? TOLLBAR_MPI_LAST_TO_ARRIVE : TOLLBAR_MPI_FIRST_THREAD),
                   what_ + "the right thread goes outside");
        job.expect(inner.empty() ? barrier_.inner() == "turnstile" : barrier_.inner() == inner,
                   what_ + "inner is told");
        job.expect(outer.empty() ? !barrier_.outer().empty() : barrier_.outer() == outer, what_ + "outer is told");
    }

    void run() {
        // Each is late once while all others wait, and once while they test.
        in_threads(threads_, [&](unsigned thread) {
            for (unsigned late = 0; late < 2 * all_; ++late) cross(thread, first_ + late + 1, late);
            constexpr unsigned in_a_row = 40;
            for (unsigned i = 0; i < in_a_row; ++i) cross(thread, first_ + 2 * all_ + i + 1, 2 * all_);
        });
        first_of_all_ = first_ + 2 * all_ + 100;
    }

private:
    unsigned own(unsigned thread) const { return job_.rank() * threads_ + thread; }

    void cross(unsigned thread, std::uint64_t episode, unsigned turn) {
        Slot& mine = slots_[own(thread)];
        if (turn < 2 * all_ && turn % all_ == own(thread)) be_late(episode, own(thread));
        mine.toll = episode;
        mine.entering.store(episode, std::memory_order_relaxed);
        if (turn < all_ || turn == 2 * all_) {
            barrier_.arrive_and_wait(thread);
        } else {
            barrier_.arrive(thread);
            while (!barrier_.test(thread)) std::this_thread::yield();
            barrier_.wait(thread);  // at once: a test has said so
        }
        mine.left.store(episode, std::memory_order_relaxed);
        for (unsigned i = 0; i < all_; ++i)
            job_.expect(slots_[i].toll >= episode,
                        what_ + "participant " + std::to_string(i) + " has paid in episode " + std::to_string(episode));
        // Nobody pays the next toll before all have looked.
        barrier_.arrive_and_wait(thread);
    }

    /// Comes once all others are at the barrier; none of them may be out by then.
    void be_late(std::uint64_t episode, unsigned self) const {
        for (unsigned i = 0; i < all_; ++i)
            if (i != self) until([&] { return slots_[i].entering.load(std::memory_order_relaxed) >= episode; });
        for (int turn = 0; turn < 20; ++turn) std::this_thread::yield();
        for (unsigned i = 0; i < all_; ++i)
            job_.expect(i == self || slots_[i].left.load(std::memory_order_relaxed) < episode,
                        what_ + "nobody leaves before participant " + std::to_string(self) + " has come");
    }

    static inline std::uint64_t first_of_all_ = 0;

    const Job& job_;
    const Everywhere<Slot>& slots_;
    unsigned threads_;
    unsigned all_;
    std::uint64_t first_;
    std::string what_;
    tollbar::mpi_barrier barrier_;
};

std::string spelled(const char* word) { return std::string_view(word) == "-" ? "" : word; }

}  // namespace

int main(int count, char** words) {
    const std::map<std::string_view, int> levels{{"single", MPI_THREAD_SINGLE},
                                                 {"funneled", MPI_THREAD_FUNNELED},
                                                 {"serialized", MPI_THREAD_SERIALIZED},
                                                 {"multiple", MPI_THREAD_MULTIPLE}};
    const std::string_view level = words[1];
    const Job job(&count, &words, levels.at(level));
    job.expect(job.level() == levels.at(level), "the MPI gives what it is asked for");
    const Everywhere<Slot> slots(job, job.ranks() * most_threads);
    std::vector<unsigned> sizes{1};
    if (level != "single") sizes = {1, 2, most_threads};
    for (int i = 2; i + 1 < count; i += 2)
        for (const unsigned threads : sizes)
            Crossing(job, slots, threads, spelled(words[i]), spelled(words[i + 1])).run();
    if (job.rank() == 0) std::printf("every toll was paid\n");
}
