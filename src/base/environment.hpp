// SPDX-License-Identifier: Apache-2.0
// The variables that users set, in one table, and their one reader: nothing else in the library asks for them.
// A value that is not accepted is named on stderr, once a process and variable; then the default counts.
#pragma once

#include "environment.h"

#include <tollbar/detail/wait_policy.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tollbar::detail {

/// "auto", "spin", "yield", "park".
std::optional<wait_policy> wait_policy_named(std::string_view name) noexcept;
std::string_view name_of(wait_policy policy) noexcept;

/// "auto", "p2p", "nic".
std::optional<tollbar_network> network_named(std::string_view name) noexcept;
std::string_view name_of(tollbar_network network) noexcept;

}  // namespace tollbar::detail

namespace tollbar::detail::environment {

inline constexpr const char* default_nicd_socket = "/run/tollbar/nicd.sock";

struct Variable {
    const char* name;
    const char* accepted;
    const char* fallback;  ///< what counts when it is unset, empty or not accepted
    const char* meaning;   ///< one sentence
    const char* readers;
};

std::span<const Variable> variables() noexcept;

/// TOLLBAR_PLAN; "" when unset. The caller finds out whether it can run, and calls refuse_plan() if not.
std::string plan();
void refuse_plan(std::string_view why);

/// TOLLBAR_WAIT, read once a process.
wait_policy wait() noexcept;

/// TOLLBAR_TIMEOUT; nothing for 0.
std::optional<std::chrono::duration<double>> timeout() noexcept;

/// TOLLBAR_VERBOSE, see tollbar_verbosity().
int verbosity() noexcept;

/// TOLLBAR_NETWORK; never unsaid.
tollbar_network network() noexcept;

/// TOLLBAR_NICD.
std::string nicd_socket();

/// The file of TOLLBAR_REPORT; "" for stderr. The refusal is for whoever cannot write there.
std::string report_file();
void refuse_report_file(std::string_view why);

/// The secret that `tollbar run` hands down to the ranks of its job; "" without any.
std::string secret_of_run();

/// The folders of the user's libraries, LD_LIBRARY_PATH; "" without any.
std::string library_folders();

/// The user's folder for what tollbar can find out again: tollbar in XDG_CACHE_HOME, if that is absolute, else in
/// ~/.cache; "" without HOME.
std::string cache_folder();

/// TOLLBAR_TUNING, else tuning in the cache folder; "" without one.
std::string tuning_file();

/// Whether OpenMP's own variables name tools that a runtime loads.
bool names_openmp_tools() noexcept;

/// Whether libomp's own variables change how it deals out static loops, or have it check or report each of them.
bool changes_static_loops() noexcept;

/// The process of this host that has started the ranks of an MPI job: the first ancestor of a rank that was started
/// neither as one nor by one, as far as environments may be read; 0 or 1 where there is none.
pid_t launcher_of(pid_t rank);

/// A variable that is set and not empty; `complaint` is the line that refuses it, "" for accepted ones.
struct Setting {
    std::string name;
    std::string value;
    std::string complaint;
};

/// The variables of the process whose names begin with TOLLBAR_, by name. Plans are not looked at.
std::vector<Setting> settings();

/// The line that refuses a plan, without "tollbar: ". `setting` is what names it, null for "the plan".
std::string refusal_of_plan(const char* setting, std::string_view plan, std::string_view why);

}  // namespace tollbar::detail::environment
