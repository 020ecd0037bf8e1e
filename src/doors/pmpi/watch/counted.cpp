// SPDX-License-Identifier: Apache-2.0
// Two calls of one number are told apart by their names, roots, operations and bytes, in this order.
#include "counted.hpp"

#include "operations.h"

#include "base/report.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace tollbar::detail::watch {

namespace {

unsigned operation_in(const tollbar_counted& one) { return static_cast<unsigned>(one.what >> 16 & 0xffff); }

std::string name_of_operation(unsigned operation) {
#define TOLLBAR_NAME(name, object) "MPI_" #name,
    static constexpr const char* names[] = {"an operation of its own", TOLLBAR_EACH_OPERATION(TOLLBAR_NAME)};
    return names[operation < std::size(names) ? operation : 0];
}

}  // namespace

std::string described(const tollbar_counted& one, const tollbar_counted& other) {
    const bool same = call_in(one) == call_in(other);
    std::vector<std::string> parts;
    if (root_in(one) != 0 && (!same || root_in(one) != root_in(other)))
        parts.push_back("root " + std::to_string(root_in(one) - 1));
    if (same && operation_in(one) != operation_in(other)) parts.push_back(name_of_operation(operation_in(one)));
    if (same && one.bytes != other.bytes) parts.push_back(std::to_string(one.bytes) + " bytes");
    const std::string all = joined(parts, ", ", [](const std::string& part) { return part; });
    return call_of(one).name + (all.empty() ? "" : " (" + all + ")");
}

std::string fact_of(const tollbar_counted& one) {
    const tollbar_call& call = call_of(one);
    std::string fact = std::string(call.name).append(",");
    if (root_in(one) != 0) fact.append("root ").append(std::to_string(root_in(one) - 1));
    fact.append(",");
    if (call.op != 0) fact.append(name_of_operation(operation_in(one)));
    fact.append(",");
    if (one.bytes != ~std::uint64_t{0}) fact.append(std::to_string(one.bytes)).append(" bytes");
    std::ranges::replace(fact, ' ', '.');
    return fact;
}

}  // namespace tollbar::detail::watch
