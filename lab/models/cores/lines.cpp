// SPDX-License-Identifier: Apache-2.0
// The cost of a miss, and whose turn it is at a line's home.
#include "caches.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace tollbar::cores {

namespace {

/// Fraction of a write's transfer time after which all invalidations have arrived.
constexpr double invalidated = 0.3;

}  // namespace

double Caches::within_socket(Thread thread) const {
    return cores_[thread].socket == 0 ? machine_.socket_ns : machine_.second_socket_ns;
}

double Caches::distance(Thread one, Thread other) const {
    if (one == other) return 0;
    if (cores_[one].cluster == cores_[other].cluster) return machine_.cluster_ns;
    return cores_[one].socket == cores_[other].socket ? within_socket(one) : machine_.far_ns;
}

/// From the nearest of `some`, other than the thread itself; from memory where there is none.
double Caches::nearest(const Threads& some, Thread thread) const {
    Threads others = some;
    others.reset(thread);
    if (others.none()) return machine_.socket_ns;
    if ((others & cluster_[cores_[thread].cluster]).any()) return machine_.cluster_ns;
    return (others & socket_[cores_[thread].socket]).any() ? within_socket(thread) : machine_.far_ns;
}

double Caches::farthest(const Threads& some, Thread thread) const {
    const Threads here = some & socket_[cores_[thread].socket];
    if (here != some) return machine_.far_ns;
    return (here & ~cluster_[cores_[thread].cluster]).any() ? within_socket(thread) : machine_.cluster_ns;
}

double Caches::from_source(const CacheLine& at, Thread thread) const {
    return at.owner != nobody ? distance(at.owner, thread) : nearest(at.sharers, thread);
}

bool Caches::has(const CacheLine& at, Thread thread) const {
    if (at.owner == thread) return !at.granting;
    return at.sharers[thread] || (at.losing[thread] && now_ < at.lost);
}

void Caches::send(Request& request) {
    ++misses_;
    const double leg = (1 - machine_.busy) * from_source(*request.line, request.thread);
    post(Event::What::arrive, now_ + leg, request.thread, &request, request.line);
}

void Caches::finish(Request& request) {
    const Thread thread = request.thread;
    request.done = true;
    if (request.access != Access::load) {
        CacheLine& at = *request.line;
        request.apply();
        at.granting = false;
        if (machine_.held > 0) {
            post(Event::What::free, now_ + machine_.held * request.transfer_ns, thread, nullptr, &at);
        } else {
            at.busy = false;
            serve(at);  // whoever queues comes before a second access of the new owner
        }
    }
    go(thread);  // who waits for something else looks, and blocks again
}

void Caches::serve(CacheLine& at) {
    while (!at.busy && !at.queue.empty()) {
        Request& request = *at.queue.front();
        at.queue.pop_front();
        if (serve_in_cluster(at, request)) continue;
        at.busy = true;
        if (request.access == Access::load)
            serve_load(at, request);
        else
            serve_write(at, request);
    }
}

/// A cluster's cache serves reads without the line's home.
bool Caches::serve_in_cluster(CacheLine& at, Request& request) {
    const auto cluster = cores_[request.thread].cluster;
    if (!machine_.clusters_cache || request.access != Access::load || at.owner != nobody) return false;
    Threads others = at.sharers & cluster_[cluster];
    others.reset(request.thread);
    if (others.none()) return false;
    const double start = std::max({now_, at.cluster_free[cluster], at.cluster_has[cluster]});
    at.cluster_free[cluster] = start + machine_.cluster_read_ns;
    at.sharers.set(request.thread);
    request.apply();
    post(Event::What::done, start + machine_.busy * machine_.cluster_ns, request.thread, &request);
    return true;
}

void Caches::serve_load(CacheLine& at, Request& request) {
    const double transfer = machine_.busy * from_source(at, request.thread);
    const double busy = at.owner == nobody && at.sharers.any() ? machine_.read_ns : transfer;
    if (at.owner != nobody) {
        at.sharers.reset();
        at.sharers.set(at.owner);
        at.owner = nobody;
    }
    at.sharers.set(request.thread);
    request.apply();
    at.cluster_has[cores_[request.thread].cluster] = now_ + transfer;
    post(Event::What::done, now_ + transfer, request.thread, &request);
    post(Event::What::free, now_ + busy, request.thread, nullptr, &at);
}

void Caches::serve_write(CacheLine& at, Request& request) {
    const Thread thread = request.thread;
    const bool upgrade = at.owner == nobody && at.sharers[thread];
    double transfer = upgrade ? 0 : machine_.busy * from_source(at, thread);
    Threads others = at.sharers;
    others.reset(thread);
    if (others.any())
        transfer = std::max(transfer, machine_.busy * farthest(others, thread) +
                                          machine_.invalidate_ns * static_cast<double>(others.count()));
    transfer = std::max(transfer, machine_.add_ns);
    at.losing = others;
    if (at.owner != nobody) {
        at.losing.reset();
        at.losing.set(at.owner);
    }
    at.lost = now_ + invalidated * transfer;
    ++at.handed_over;
    at.sharers.reset();
    at.owner = thread;
    at.granting = true;
    take_from_pollers(at, thread);
    request.transfer_ns = transfer;
    at.cluster_has[cores_[thread].cluster] = now_ + transfer;
    post(Event::What::done, now_ + transfer, thread, &request);
}

/// They poll at the ends of their pauses, and miss at the first one after they lost the line.
void Caches::take_from_pollers(CacheLine& at, Thread winner) {
    const double period = machine_.pause_ns + machine_.hit_ns;
    for (const auto& [thread, since] : at.watching) {
        if (thread == winner) continue;
        const double first = since + machine_.pause_ns;
        post(Event::What::poll, first + period * std::max(0.0, std::ceil((at.lost - first) / period)), thread);
    }
    std::erase_if(at.watching, [&](const auto& watcher) { return watcher.first != winner; });
}

}  // namespace tollbar::cores
