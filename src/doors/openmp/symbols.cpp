// SPDX-License-Identifier: Apache-2.0
// The exported names of a runtime, read where the loader has mapped them.
#include "runtime.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace tollbar::detail::openmp {

namespace {

using Symbol = ElfW(Sym);

/// Beginnings of the names of functions that make teams or tasks.
constexpr std::string_view makers[]{"GOMP_parallel", "GOMP_task",       "GOMP_target", "GOMP_teams",
                                    "__kmpc_fork",   "__kmpc_omp_task", "__kmpc_task", "__kmpc_serialized"};

/// Functions that wait for tasks, allocate, register, reduce or run them at once, or look after data of a device.
constexpr std::string_view harmless =
    " GOMP_task_reduction_remap GOMP_taskgroup_end GOMP_taskgroup_reduction_register "
    "GOMP_taskgroup_reduction_unregister GOMP_taskgroup_start GOMP_taskwait GOMP_taskwait_depend "
    "GOMP_taskwait_depend_nowait __kmpc_omp_taskwait_deps_51 GOMP_taskyield "
    "GOMP_target GOMP_target_data GOMP_target_data_ext GOMP_target_end_data GOMP_target_map_indirect_ptr "
    "GOMP_target_update GOMP_teams GOMP_teams4 __kmpc_omp_task_alloc __kmpc_omp_task_begin_if0 "
    "__kmpc_omp_task_complete_if0 __kmpc_omp_taskwait __kmpc_omp_taskyield __kmpc_task_allow_completion_event "
    "__kmpc_task_reduction_get_th_data __kmpc_task_reduction_init __kmpc_task_reduction_modifier_fini "
    "__kmpc_task_reduction_modifier_init __kmpc_taskgroup __kmpc_taskred_init __kmpc_taskred_modifier_init "
    "__kmpc_omp_target_task_alloc __kmpc_omp_reg_task_with_affinity __kmpc_omp_has_task_team "
    "__kmpc_task_reduction_modifier __kmpc_taskwait __kmpc_taskyield __kmpc_omp_wait_deps ";

bool is_harmless(std::string_view name) {
    return harmless.find(std::string(" ").append(name).append(" ")) != harmless.npos;
}

/// How many symbols a GNU hash table covers: the end of the chain that begins last.
std::size_t symbols_in(const std::uint32_t* table) {
    const std::uint32_t buckets = table[0], first = table[1], bloom = table[2];
    const std::uint32_t* const bucket = table + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* const chain = bucket + buckets;
    std::uint32_t last = *std::max_element(bucket, bucket + buckets);
    if (last < first) return first;
    while ((chain[last - first] & 1) == 0) ++last;
    return last + 1;
}

}  // namespace

std::string_view unknown_entry(const link_map& runtime) {
    const auto* const section = reinterpret_cast<const char*>(runtime.l_ld);
    const auto address = [&](ElfW(Addr) value) {  // most loaders have relocated it
        return section +
               ((value < runtime.l_addr ? value + runtime.l_addr : value) - reinterpret_cast<ElfW(Addr)>(section));
    };
    const char *text = nullptr, *table = nullptr, *hash = nullptr;
    for (const ElfW(Dyn)* entry = runtime.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB) text = address(entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB) table = address(entry->d_un.d_ptr);
        if (entry->d_tag == DT_GNU_HASH) hash = address(entry->d_un.d_ptr);
    }
    if (text == nullptr || table == nullptr || hash == nullptr) return "(no table of symbols)";
    const std::span symbols(reinterpret_cast<const Symbol*>(table),
                            symbols_in(reinterpret_cast<const std::uint32_t*>(hash)));
    for (const Symbol& symbol : symbols) {
        if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        const std::string_view name(text + symbol.st_name);
        const bool makes = std::ranges::any_of(makers, [&](auto maker) { return name.starts_with(maker); });
        if (makes && std::ranges::find(names, name) == names.end() && !is_harmless(name)) return name;
    }
    return "";
}

}  // namespace tollbar::detail::openmp
