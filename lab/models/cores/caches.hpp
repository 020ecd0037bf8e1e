// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulation of cache coherence. Every thread has a core and is a fiber; every access is charged what
// its line costs (docs/design/cores.md).
#pragma once

#include "fiber.hpp"
#include "line.hpp"

#include <tollbar/models/cores.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollbar::cores {

/// Bytes of a line.
inline constexpr std::uintptr_t line_size = 64;

class Caches {
public:
    /// core_of: the core of each thread.
    Caches(const Machine& machine, const std::vector<std::uint32_t>& core_of, std::uint64_t seed);
    Caches(const Caches&) = delete;
    Caches& operator=(const Caches&) = delete;

    /// Runs body(thread) on all threads to their ends. Throws std::logic_error when some never end, and what `watch`
    /// throws, which is called after every so many events.
    void run(const std::function<void(Thread)>& body, const std::function<void()>& watch = {});

    /// The one that runs in this thread of the program.
    static Caches& current() noexcept { return *current_; }
    static bool running() noexcept { return current_ != nullptr; }

    double now() const noexcept { return now_; }
    Thread self() const noexcept { return self_; }
    /// The running thread's neighbours' (waiting/clusters.hpp), where the barrier's threads have all the cores.
    std::uint32_t group() const noexcept { return group_[self_]; }
    std::uint64_t misses() const noexcept { return misses_; }
    std::uint64_t events() const noexcept { return order_; }

    /// How often the line that changed owners most often has changed them.
    std::uint64_t most_handed_over() const noexcept;

    /// Accesses of the running thread to a word. Each takes its time.
    std::uint64_t load(const std::uint64_t& word);
    void store(std::uint64_t& word, std::uint64_t value);  ///< goes through the store buffer, and returns at once
    std::uint64_t add(std::uint64_t& word, std::uint64_t value);
    std::uint64_t change(std::uint64_t& word, std::uint64_t expected, std::uint64_t value);
    void drain();  ///< a full fence: waits for its stores
    void compute(double ns);

    /// A pause between two polls. While the copy polled last stays valid nothing can happen: the next poll that matters
    /// is found by arithmetic when the line is taken away.
    void pause();

    /// Drawn from 0 to `most`.
    double draw(double most) { return std::uniform_real_distribution<>(0, most)(random_); }

private:
    struct Event {
        enum class What : std::uint8_t { resume, poll, arrive, done, free };

        double at;
        std::uint64_t order;
        What what;
        Thread thread;
        Request* request;
        CacheLine* line;

        bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    void post(Event::What what, double at, Thread thread, Request* request = nullptr, CacheLine* line = nullptr);
    void happen(const Event& event);
    void go(Thread thread);
    void block();
    CacheLine& line(const std::uint64_t& word);
    bool has(const CacheLine& at, Thread thread) const;
    Request* store_under_way(const CacheLine& at) const;
    void forget_done_stores();
    std::uint64_t change_word(Request& request);
    std::uint64_t miss(Request& request);
    void send(Request& request);
    void finish(Request& request);
    void serve(CacheLine& at);
    bool serve_in_cluster(CacheLine& at, Request& request);
    void serve_load(CacheLine& at, Request& request);
    void serve_write(CacheLine& at, Request& request);
    void take_from_pollers(CacheLine& at, Thread winner);
    double distance(Thread one, Thread other) const;
    double nearest(const Threads& some, Thread thread) const;
    double farthest(const Threads& some, Thread thread) const;
    double from_source(const CacheLine& at, Thread thread) const;
    double within_socket(Thread thread) const;

    static thread_local Caches* current_;

    const Machine& machine_;
    std::vector<Core> cores_;
    std::vector<std::uint32_t> group_;  ///< of each thread
    std::vector<Threads> cluster_;      ///< of each cluster: its threads
    std::vector<Threads> socket_;
    std::mt19937_64 random_;
    double now_ = 0;
    Thread self_ = 0;
    std::uint64_t misses_ = 0;
    std::uint64_t order_ = 0;
    std::priority_queue<Event> events_;
    std::unordered_map<std::uintptr_t, CacheLine> lines_;
    std::vector<Fiber> fibers_;
    std::vector<std::vector<std::unique_ptr<Request>>> stores_;  ///< by thread: its store buffer
    std::vector<CacheLine*> polled_;                             ///< by thread: what it loaded last
    std::vector<char> awake_;                                    ///< by thread: whether it may poll again
};

}  // namespace tollbar::cores
