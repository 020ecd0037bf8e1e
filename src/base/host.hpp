// SPDX-License-Identifier: Apache-2.0
// The host and its kernel, as processes tell them apart.
#pragma once

#include <string>

namespace tollbar::detail {

/// The name that gethostname(2) gives.
const std::string& host_name();

/// The boot ID of the running kernel: equal for processes that read one clock.
const std::string& kernel_boot();

}  // namespace tollbar::detail
