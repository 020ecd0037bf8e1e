// SPDX-License-Identifier: Apache-2.0
// Tools that follow a program's synchronization by the functions that it calls: a door leaves these to them.
#pragma once

namespace tollbar::detail {

/// The tool that this process runs under, as it stands in a sentence; null for none. The same answer each time.
const char* checker() noexcept;

}  // namespace tollbar::detail
