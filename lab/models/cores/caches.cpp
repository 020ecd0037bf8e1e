// SPDX-License-Identifier: Apache-2.0
// The accesses of threads to words, and the order in which things happen. The costs of a line are in lines.cpp.
#include "caches.hpp"

#include "barriers.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace tollbar::cores {

thread_local Caches* Caches::current_ = nullptr;

Caches::Caches(const Machine& machine, const std::vector<std::uint32_t>& core_of, std::uint64_t seed)
    : machine_(machine), random_(seed), stores_(core_of.size()), polled_(core_of.size()), awake_(core_of.size(), 1) {
    for (const std::uint32_t core : core_of) {
        const Core& at = machine.cores.at(core);
        const auto thread = cores_.size();
        cores_.push_back(at);
        if (at.cluster >= cluster_.size()) cluster_.resize(at.cluster + 1);
        if (at.socket >= socket_.size()) socket_.resize(at.socket + 1);
        cluster_[at.cluster].set(thread);
        socket_[at.socket].set(thread);
    }
    const detail::Clusters clusters = clusters_of(cores_, machine);
    const detail::CoreGroups groups = groups_of(clusters);
    std::map<std::uint32_t, std::uint32_t> taken;  // cores of each cluster
    for (const Core& core : cores_) {
        const auto at = std::find_if(clusters.all.begin(), clusters.all.end(),
                                     [&](const detail::Cluster& cluster) { return cluster.number == core.cluster; });
        group_.push_back(
            groups.of(static_cast<std::uint32_t>(at - clusters.all.begin()), taken[core.cluster]++, at->cores));
    }
}

void Caches::run(const std::function<void(Thread)>& body, const std::function<void()>& watch) {
    constexpr std::uint64_t events_a_look = 1 << 14;
    struct Running {
        explicit Running(Caches* caches) : before(std::exchange(current_, caches)) {}
        ~Running() { current_ = before; }
        Caches* before;
    } const running(this);

    for (Thread thread = 0; thread < cores_.size(); ++thread) {
        fibers_.emplace_back([&body, thread] { body(thread); });
        post(Event::What::resume, draw(1), thread);
    }
    for (std::uint64_t done = 1; !events_.empty(); ++done) {
        const Event event = events_.top();
        events_.pop();
        now_ = event.at;
        happen(event);
        if (watch && done % events_a_look == 0) watch();
    }
    if (!std::all_of(fibers_.begin(), fibers_.end(), [](const Fiber& fiber) { return fiber.ended(); }))
        throw std::logic_error("the simulated barrier never ends");
}

void Caches::post(Event::What what, double at, Thread thread, Request* request, CacheLine* line) {
    events_.push({at, order_++, what, thread, request, line});
}

void Caches::happen(const Event& event) {
    switch (event.what) {
        case Event::What::resume: go(event.thread); break;
        case Event::What::poll:
            awake_[event.thread] = 1;
            go(event.thread);
            break;
        case Event::What::arrive:
            event.line->queue.push_back(event.request);
            serve(*event.line);
            break;
        case Event::What::done: finish(*event.request); break;
        case Event::What::free:
            event.line->busy = false;
            serve(*event.line);
            break;
    }
}

void Caches::go(Thread thread) {
    self_ = thread;
    if (!fibers_[thread].ended()) fibers_[thread].resume();
}

void Caches::block() {
    const Thread me = self_;
    fibers_[me].stop();
    self_ = me;
}

void Caches::compute(double ns) {
    const double until = now_ + ns;
    for (post(Event::What::resume, until, self_); now_ < until;) block();
}

void Caches::pause() {
    CacheLine* const line = polled_[self_];
    const bool copy = line != nullptr && (line->sharers[self_] || (line->owner == self_ && !line->granting));
    if (!copy || store_under_way(*line) != nullptr) return compute(machine_.pause_ns);
    line->watching.emplace_back(self_, now_);
    awake_[self_] = 0;
    while (awake_[self_] == 0) block();
}

CacheLine& Caches::line(const std::uint64_t& word) {
    const auto [found, fresh] = lines_.try_emplace(reinterpret_cast<std::uintptr_t>(&word) / line_size);
    if (fresh) {
        found->second.cluster_has.resize(cluster_.size());
        found->second.cluster_free.resize(cluster_.size());
    }
    return found->second;
}

std::uint64_t Caches::most_handed_over() const noexcept {
    std::uint64_t most = 0;
    for (const auto& [at, line] : lines_) most = std::max(most, line.handed_over);
    return most;
}

std::uint64_t Caches::load(const std::uint64_t& word) {
    CacheLine& at = line(word);
    const auto& stores = stores_[self_];
    const auto own = std::find_if(stores.rbegin(), stores.rend(),
                                  [&](const auto& store) { return store->word == &word && !store->done; });
    if (own != stores.rend()) {  // the store buffer knows
        const std::uint64_t value = (*own)->operand;
        compute(machine_.hit_ns);
        return value;
    }
    if (!has(at, self_))  // perhaps the line is on its way for a store to another of its words
        if (const Request* const store = store_under_way(at); store != nullptr)
            while (!store->done) block();
    forget_done_stores();
    polled_[self_] = &at;
    if (has(at, self_)) {
        const std::uint64_t value = word;
        compute(machine_.hit_ns);
        return value;
    }
    Request request{.thread = self_, .line = &at, .access = Access::load, .word = const_cast<std::uint64_t*>(&word)};
    return miss(request);
}

void Caches::store(std::uint64_t& word, std::uint64_t value) {
    CacheLine& at = line(word);
    forget_done_stores();
    if (at.owner == self_ && !at.granting && stores_[self_].empty()) {
        word = value;
    } else {
        stores_[self_].push_back(std::make_unique<Request>(
            Request{.thread = self_, .line = &at, .access = Access::store, .word = &word, .operand = value}));
        send(*stores_[self_].back());
    }
    compute(machine_.hit_ns);
}

std::uint64_t Caches::add(std::uint64_t& word, std::uint64_t value) {
    Request request{.thread = self_, .line = &line(word), .access = Access::add, .word = &word, .operand = value};
    return change_word(request);
}

std::uint64_t Caches::change(std::uint64_t& word, std::uint64_t expected, std::uint64_t value) {
    Request request{.thread = self_,
                    .line = &line(word),
                    .access = Access::change,
                    .word = &word,
                    .operand = value,
                    .expected = expected};
    return change_word(request);
}

std::uint64_t Caches::change_word(Request& request) {
    drain();
    if (request.line->owner != self_ || request.line->granting) return miss(request);
    request.apply();
    compute(machine_.add_ns);
    return request.result;
}

void Caches::drain() {
    for (forget_done_stores(); !stores_[self_].empty(); forget_done_stores()) block();
}

std::uint64_t Caches::miss(Request& request) {
    send(request);
    while (!request.done) block();
    return request.result;
}

Request* Caches::store_under_way(const CacheLine& at) const {
    for (const auto& store : stores_[self_])
        if (store->line == &at && !store->done) return store.get();
    return nullptr;
}

void Caches::forget_done_stores() {
    std::erase_if(stores_[self_], [](const auto& store) { return store->done; });
}

}  // namespace tollbar::cores
