// SPDX-License-Identifier: Apache-2.0
// The OpenMP runtimes of the process, of which there may be several, and which of them a piece of code calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <link.h>
#include <string>
#include <string_view>

namespace tollbar::detail::openmp {

/// The two sets of functions by which compilers call a runtime. LLVM's libomp has both.
enum class Family : unsigned char { gomp, kmpc };

/// Every function of a runtime that the door calls.
inline constexpr std::string_view function_names =
    "omp_get_num_procs omp_get_max_threads omp_get_num_threads omp_get_thread_num omp_get_cancellation "
    "GOMP_parallel GOMP_parallel_loop_static "
    "GOMP_parallel_loop_dynamic GOMP_parallel_loop_guided GOMP_parallel_loop_runtime "
    "GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided "
    "GOMP_parallel_loop_nonmonotonic_runtime GOMP_parallel_loop_maybe_nonmonotonic_runtime "
    "GOMP_parallel_sections GOMP_parallel_reductions GOMP_teams_reg GOMP_parallel_start "
    "GOMP_parallel_loop_static_start GOMP_parallel_loop_dynamic_start GOMP_parallel_loop_guided_start "
    "GOMP_parallel_loop_runtime_start GOMP_parallel_sections_start GOMP_parallel_end GOMP_barrier "
    "GOMP_barrier_cancel GOMP_loop_end GOMP_loop_end_cancel GOMP_loop_end_nowait GOMP_sections_end "
    "GOMP_sections_end_cancel GOMP_sections_end_nowait GOMP_single_start GOMP_single_copy_start "
    "GOMP_single_copy_end GOMP_task GOMP_taskloop GOMP_taskloop_ull GOMP_target_ext GOMP_target_update_ext "
    "GOMP_target_enter_exit_data __kmpc_fork_call __kmpc_fork_call_if __kmpc_fork_teams "
    "__kmpc_push_num_threads __kmpc_serialized_parallel __kmpc_end_serialized_parallel __kmp_invoke_microtask "
    "__kmpc_barrier "
    "__kmpc_cancel_barrier __kmpc_copyprivate __kmpc_omp_task __kmpc_omp_task_parts __kmpc_omp_task_with_deps "
    "__kmpc_taskloop __kmpc_taskloop_5 __kmpc_for_static_init_4 __kmpc_for_static_init_4u __kmpc_for_static_init_8 "
    "__kmpc_for_static_init_8u ompt_start_tool "
    "GOMP_cancel";

inline constexpr auto names = [] {
    std::array<std::string_view, static_cast<std::size_t>(std::ranges::count(function_names, ' ')) + 1> all;
    std::string_view rest = function_names;
    for (std::string_view& one : all) {
        one = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    }
    return all;
}();

/// A name as a template argument.
struct Name {
    template <std::size_t size>
    consteval Name(const char (&given)[size]) {
        std::copy_n(given, size, text);
    }

    constexpr std::size_t position() const {
        const auto* const found = std::ranges::find(names, std::string_view(text));
        if (found == names.end()) throw "the name is missing in the table";
        return static_cast<std::size_t>(found - names.begin());
    }

    char text[64]{};
};

/// One loaded runtime, for ever.
class Runtime {
public:
    /// The runtime that defines the function at that address.
    explicit Runtime(void* definition);

    /// A function of this runtime; null where it has none of that name.
    template <Name name, class Function>
    Function* real() const noexcept {
        constexpr std::size_t position = name.position();
        return reinterpret_cast<Function*>(functions_[position]);
    }

    /// Why its barriers stay its own; empty where regions are served.
    const std::string& refusal() const noexcept { return refusal_; }
    bool is_served() const noexcept { return refusal_.empty(); }

    /// Whether each thread's share of a static loop is what libomp gives it where nobody has said otherwise.
    bool deals_evenly() const noexcept { return deals_evenly_; }

    bool contains(const void* address) const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin_) < size_;
    }

    /// One line with TOLLBAR_VERBOSE.
    void say() const;

private:
    std::string why_not() const;

    std::array<void*, names.size()> functions_{};
    const std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
    std::string file_, refusal_;
    bool deals_evenly_ = false;
};

/// A loaded object, and the runtime that its code calls by the functions of one family.
struct Site {
    bool operator==(const Site&) const = default;
    bool covers(const void* address, Family asked) const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin) < size && family == asked;
    }

    const std::byte* begin = nullptr;
    std::size_t size = 0;
    const Runtime* runtime = nullptr;
    Family family = Family::gomp;
    bool is_door = false;  ///< the object is this library: code that it has called has jumped to the runtime
};

inline constexpr Site nowhere{};

/// The object of the code or data at `address`. Finds the runtime that it would have found without the door: the one
/// that the program shows to all, else that of its own dependencies, under whatever name, loaded RTLD_LOCAL or not.
/// Aborts where no loaded object has what the code calls.
Site site_of(const void* address, Family family) noexcept;

/// For `tollbar doctor`: why the runtime of that file would keep its barriers, empty where it would not. One caller at
/// a time.
extern "C" const char* tollbar_openmp_refusal(const char* file);

/// A name by which that object makes teams or tasks and that the door neither wraps nor knows to be harmless; "" for
/// none.
std::string_view unknown_entry(const link_map& runtime);

}  // namespace tollbar::detail::openmp
