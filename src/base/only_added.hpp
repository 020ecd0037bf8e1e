// SPDX-License-Identifier: Apache-2.0
// A list that only grows, without a lock.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace tollbar::detail {

/// Values that are found and added by any thread. Nobody waits for another thread, which in a child after fork(2) is
/// not there any more. Constant-initialized, so that a static one has no guard; never destroyed, because threads and
/// exit handlers go on during exit(3).
///
///     static constinit OnlyAdded<std::string> said;
///     if (said.find_or_add([&](const auto& one) { return one == key; }, [&] { return std::string(key); }).second) ...
///
/// Memory order: what made a value is visible to every thread that finds it.
template <class Value>
class OnlyAdded {
public:
    /// The newest for which `is(value)`; nullptr: none.
    template <class Is>
    const Value* find(const Is& is) const {
        return find(is, newest_.load(std::memory_order_acquire), nullptr);
    }

    /// The same; the result of `make()` is added where there is none, and true tells the one caller that has added it.
    template <class Is, class Make>
    std::pair<const Value&, bool> find_or_add(const Is& is, const Make& make) {
        const Node* newest = newest_.load(std::memory_order_acquire);
        if (const Value* const found = find(is, newest, nullptr)) return {*found, false};
        std::unique_ptr<Node> fresh(new Node{make(), newest});
        while (
            !newest_.compare_exchange_weak(newest, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
            if (const Value* const found = find(is, newest, fresh->next)) return {*found, false};
            fresh->next = newest;
        }
        return {fresh.release()->value, true};
    }

private:
    struct Node {
        const Value value;
        const Node* next;
    };

    template <class Is>
    static const Value* find(const Is& is, const Node* from, const Node* to) {
        for (; from != to; from = from->next)
            if (is(from->value)) return &from->value;
        return nullptr;
    }

    std::atomic<const Node*> newest_{nullptr};
};

}  // namespace tollbar::detail
