// SPDX-License-Identifier: Apache-2.0
#include "partitions.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace tollbar::scheduler {

std::vector<Partitions::Move> Partitions::arrived(const std::vector<Job*>& jobs) {
    for (Job* const job : jobs) {
        job->home.clear();
        present_.push_back(job);
    }
    return divide();
}

std::vector<Partitions::Move> Partitions::completed(const Job& job) {
    std::erase(present_, &job);
    std::ranges::replace(owner_, &job, nullptr);
    return divide();
}

std::vector<Partitions::Move> Partitions::divide() {
    const std::vector<std::uint32_t> share = shares();
    for (std::size_t index = 0; index < present_.size(); ++index) {
        const std::vector<std::uint32_t> owned = owned_by(present_[index]);
        for (std::size_t taken = share[index]; taken < owned.size(); ++taken) owner_[owned[taken]] = nullptr;
    }
    std::vector<Move> moves;
    for (std::size_t index = 0; index < present_.size(); ++index) {
        Job& job = *present_[index];
        for (std::size_t missing = share[index] - owned_by(&job).size(); missing > 0; --missing)
            *std::ranges::find(owner_, nullptr) = &job;
        const std::vector<std::uint32_t> owned = owned_by(&job);
        if (job.home.empty())
            for (const std::uint32_t home : homes(*job.application, job.threads, share[index]))
                job.home.push_back(owned[home]);
        else
            std::ranges::copy(balance(job, owned), std::back_inserter(moves));
        job.note_size(share[index]);
    }
    return moves;
}

std::vector<std::uint32_t> Partitions::shares() const {
    // The application with fewest threads is served first, of several the last to come: what is left over
    // goes to the others.
    std::vector<std::size_t> order(present_.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t index) { return present_[index]->threads; });
    std::vector<std::uint32_t> share(present_.size());
    std::size_t left = owner_.size(), waiting = order.size();
    for (const std::size_t index : order) {
        share[index] = static_cast<std::uint32_t>(std::min<std::size_t>(present_[index]->threads, left / waiting));
        left -= share[index];
        --waiting;
    }
    return share;
}

std::vector<std::uint32_t> Partitions::owned_by(const Job* job) const {
    std::vector<std::uint32_t> owned;
    for (std::uint32_t processor = 0; processor < owner_.size(); ++processor)
        if (owner_[processor] == job) owned.push_back(processor);
    return owned;
}

std::vector<Partitions::Move> Partitions::balance(Job& job, const std::vector<std::uint32_t>& owned) {
    std::map<std::uint32_t, std::uint32_t> threads;  // on each of its processors
    for (const std::uint32_t processor : owned) threads[processor] = 0;
    for (const std::uint32_t home : job.home)
        if (threads.contains(home)) ++threads[home];
    const auto of = [](const auto& entry) { return entry.second; };
    std::vector<Move> moves;
    const auto move = [&](std::uint32_t number) {
        const auto emptiest = std::ranges::min_element(threads, {}, of);
        moves.push_back({job.first_thread + number, job.home[number], emptiest->first});
        job.home[number] = emptiest->first;
        ++emptiest->second;
    };
    for (std::uint32_t number = 0; number < job.threads; ++number)
        if (!threads.contains(job.home[number])) move(number);
    while (true) {
        const auto fullest = std::ranges::max_element(threads, {}, of);
        if (fullest->second <= std::ranges::min_element(threads, {}, of)->second + 1) break;
        const auto last = std::find(job.home.rbegin(), job.home.rend(), fullest->first);
        --fullest->second;
        move(static_cast<std::uint32_t>(job.home.rend() - last) - 1);
    }
    return moves;
}

}  // namespace tollbar::scheduler
