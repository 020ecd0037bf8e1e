// SPDX-License-Identifier: Apache-2.0
#include "checkers.hpp"

#include "base/kept_errno.hpp"
#include "once.hpp"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace tollbar::detail {

namespace {

/// Valgrind's tools preload a library of theirs, and take the functions of the C library alone.
int is_of_valgrind(dl_phdr_info* object, std::size_t, void*) {
    return std::strstr(object->dlpi_name, "/vgpreload_") != nullptr ? 1 : 0;
}

}  // namespace

const char* checker() noexcept {
    static constinit Once<const char*> found;
    return found.get([]() -> const char* {
        const c_door::KeptErrno kept;
        if (dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) return "the thread sanitizer";
        return dl_iterate_phdr(is_of_valgrind, nullptr) != 0 ? "valgrind" : nullptr;
    });
}

}  // namespace tollbar::detail
