// SPDX-License-Identifier: Apache-2.0
// A value that is found out once in a process, without a lock.
#pragma once

#include <atomic>
#include <memory>

namespace tollbar::detail {

/// A value that the first caller finds out. Callers at the same time all find out, and one answer is kept: nobody waits
/// for another thread, which in a child after fork(2) is not there any more. Constant-initialized, so that a static one
/// has no guard; never destroyed, because exit handlers meet at barriers too.
///
///     static constinit Once<Topology> here;
///     return here.get([] { return read_topology(""); });
///
/// Memory order: what `find` wrote is visible to every caller.
template <class Value>
class Once {
public:
    template <class Find>
    const Value& get(const Find& find) {
        const Value* known = known_.load(std::memory_order_acquire);
        if (known != nullptr) [[likely]]
            return *known;
        auto fresh = std::make_unique<const Value>(find());
        if (known_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
            return *fresh.release();
        return *known;
    }

private:
    std::atomic<const Value*> known_{nullptr};
};

}  // namespace tollbar::detail
