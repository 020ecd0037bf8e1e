// SPDX-License-Identifier: Apache-2.0
// Finds runtimes by asking the loader for what the caller's own object would have found without the door.
#include "runtime.hpp"

#include "base/checkers.hpp"
#include "base/environment.hpp"
#include "base/kept_errno.hpp"
#include "base/once.hpp"
#include "base/only_added.hpp"
#include "base/say.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <span>
#include <vector>

#if !__GLIBC_PREREQ(2, 35)
struct dl_find_object {
    unsigned long long dlfo_flags;
    void *dlfo_map_start, *dlfo_map_end;
    link_map* dlfo_link_map;
    void* dlfo_eh_frame;
    unsigned long long reserved[7];
};
#endif
/// Null where the glibc that runs is older than 2.35.
extern "C" [[gnu::weak]] int _dl_find_object(void* address, dl_find_object* result) noexcept;

namespace tollbar::detail::openmp {

namespace {

/// The object at an address; none where code was made at run time.
struct Object {
    explicit Object(const void* address) noexcept {
        void* const at = const_cast<void*>(address);
        if (_dl_find_object != nullptr ? _dl_find_object(at, &found) != 0 : !find(at)) found = {};
    }

    /// The same for an older glibc: slower, and under the loader's lock.
    bool find(void* address) noexcept {
        found.dlfo_map_start = address;
        const auto holds = [](dl_phdr_info* object, std::size_t, void* wanted) {
            dl_find_object& result = *static_cast<dl_find_object*>(wanted);
            const auto at = reinterpret_cast<std::uintptr_t>(result.dlfo_map_start);
            std::uintptr_t begin = UINTPTR_MAX, end = 0;
            bool is_inside = false;
            for (const auto& part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
                if (part.p_type != PT_LOAD) continue;
                const std::uintptr_t from = object->dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
                begin = std::min(begin, from);
                end = std::max(end, to);
                is_inside = is_inside || (at >= from && at < to);
            }
            if (!is_inside) return 0;
            result.dlfo_map_start = reinterpret_cast<void*>(begin);
            result.dlfo_map_end = reinterpret_cast<void*>(end);
            return 1;
        };
        Dl_info names;
        return dl_iterate_phdr(holds, &found) != 0 &&
               dladdr1(address, &names, reinterpret_cast<void**>(&found.dlfo_link_map), RTLD_DL_LINKMAP) != 0;
    }

    const std::byte* begin() const noexcept { return static_cast<const std::byte*>(found.dlfo_map_start); }
    std::size_t size() const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(found.dlfo_map_end) - begin());
    }
    const link_map* map() const noexcept { return found.dlfo_link_map; }

    dl_find_object found{};
};

bool is_door(const link_map* object) noexcept {
    static constinit Once<const link_map*> own;
    return object == own.get([] { return Object(reinterpret_cast<const void*>(&is_door)).map(); });
}

void* unless_door(void* definition) noexcept {
    return definition == nullptr || is_door(Object(definition).map()) ? nullptr : definition;
}

/// The definition that an object finds by its own dependencies; null for the program, whose dependencies all objects
/// see.
void* found_by(const char* file, const char* name) noexcept {
    if (file == nullptr || *file == '\0') return nullptr;
    void* const handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void* const definition = unless_door(dlsym(handle, name));
    dlclose(handle);
    return definition;
}

void* found_anywhere(const char* name) {
    std::vector<std::string> files;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* all) {
            static_cast<std::vector<std::string>*>(all)->emplace_back(object->dlpi_name);
            return 0;
        },
        &files);
    for (const std::string& file : files)
        if (void* const definition = found_by(file.c_str(), name)) return definition;
    return nullptr;
}

void* definition_for(const link_map* object, const char* name) {
    void* definition = unless_door(dlsym(RTLD_NEXT, name));  // what all objects see, before what they bring along
    if (definition == nullptr && object != nullptr) definition = found_by(object->l_name, name);
    return definition == nullptr ? found_anywhere(name) : definition;
}

/// The runtime that an object calls. Another object may be loaded later where one has been, so its file counts as well.
struct Binding {
    bool is_of(const Object& other, Family called) const noexcept {
        return object == other.map() && begin == other.begin() && family == called && file == file_of(other);
    }
    static std::string_view file_of(const Object& object) noexcept {
        return object.map() == nullptr ? std::string_view() : object.map()->l_name;
    }

    const link_map* object;
    const std::byte* begin;
    Family family;
    std::string file;
    bool is_door;
    const Runtime* runtime;
};

constinit OnlyAdded<Binding> bindings;

const Runtime& runtime_with(void* definition) {
    static constinit OnlyAdded<Runtime> all;
    const auto [runtime, is_new] = all.find_or_add([&](const Runtime& one) { return one.contains(definition); },
                                                   [&] { return Runtime(definition); });
    if (is_new) runtime.say();
    return runtime;
}

/// Takes no lock: constructors of libraries run regions under the loader's own.
const Binding& bind(const Object& object, Family family) noexcept {
    const c_door::KeptErrno kept;
    void* const definition = definition_for(object.map(), family == Family::gomp ? "GOMP_barrier" : "__kmpc_barrier");
    if (definition == nullptr) {
        tollbar_say("a function of OpenMP is called, and no loaded library has it");
        std::abort();
    }
    const auto make = [&] {
        return Binding{.object = object.map(),
                       .begin = object.begin(),
                       .family = family,
                       .file = std::string(Binding::file_of(object)),
                       .is_door = is_door(object.map()),
                       .runtime = &runtime_with(definition)};
    };
    return bindings.find_or_add([&](const Binding& one) { return one.is_of(object, family); }, make).first;
}

}  // namespace

Runtime::Runtime(void* definition) {
    const Object object(definition);
    begin_ = object.begin();
    size_ = object.size();
    Dl_info about{};
    if (dladdr(definition, &about) != 0) file_ = about.dli_fname;
    void* const handle = dlopen(file_.c_str(), RTLD_LAZY | RTLD_NOLOAD);  // stays: a runtime is never unloaded
    for (std::size_t i = 0; handle != nullptr && i < names.size(); ++i)
        functions_[i] = unless_door(dlsym(handle, std::string(names[i]).c_str()));
    refusal_ = handle == nullptr || object.map() == nullptr ? "it is no library" : why_not();
    deals_evenly_ = !environment::changes_static_loops();
}

void Runtime::say() const {
    if (environment::verbosity() == 0) return;
    if (is_served())
        tollbar_say("the barriers of %s inside parallel regions are tollbar's", file_.c_str());
    else
        tollbar_say("%s keeps its own barriers: %s", file_.c_str(), refusal_.c_str());
}

std::string Runtime::why_not() const {
    const auto lacks = [&](std::string_view name) {
        return functions_[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())] == nullptr;
    };
    for (const std::string_view name : {"omp_get_num_procs", "omp_get_num_threads", "omp_get_thread_num"})
        if (lacks(name)) return "it has no " + std::string(name);
    const std::string_view unknown = unknown_entry(*Object(begin_).map());
    if (!unknown.empty()) return "tollbar does not know its " + std::string(unknown);
    if (const char* const tool = checker()) return std::string("the program runs under ") + tool;
    void* const tool = dlsym(RTLD_DEFAULT, "ompt_start_tool");
    if (tool != nullptr && tool != real<"ompt_start_tool", void>()) return "a tool follows its events";
    if (real<"ompt_start_tool", void>() != nullptr && environment::names_openmp_tools())
        return "OMP_TOOL_LIBRARIES names tools that follow its events";
    auto* const cancellation = real<"omp_get_cancellation", int()>();
    if (cancellation != nullptr && cancellation() != 0) return "OMP_CANCELLATION is on";
    return "";
}

extern "C" const char* tollbar_openmp_refusal(const char* file) {
    static auto& answer = *new std::string;
    void* const handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return "it cannot be loaded";
    void* definition = dlsym(handle, "GOMP_barrier");
    if (definition == nullptr) definition = dlsym(handle, "__kmpc_barrier");
    answer = definition == nullptr ? "it is no OpenMP runtime" : Runtime(definition).refusal();
    return answer.c_str();
}

Site site_of(const void* address, Family family) noexcept {
    const Object object(address);
    const Binding* one = bindings.find([&](const Binding& known) { return known.is_of(object, family); });
    if (one == nullptr) [[unlikely]]
        one = &bind(object, family);
    return {object.begin(), object.size(), one->runtime, family, one->is_door};
}

}  // namespace tollbar::detail::openmp
