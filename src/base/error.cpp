// SPDX-License-Identifier: Apache-2.0
// From an exception to an errno value, and the thread's last error line.
#include "error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace tollbar::detail::c_door {

namespace {

/// Has a fixed size: noting an error must not need memory.
thread_local std::array<char, 512> last_line{};

}  // namespace

bool write_text(std::string_view text, char* to, std::size_t capacity) noexcept {
    if (capacity == 0) return text.empty();
    const std::size_t length = std::min(text.size(), capacity - 1);
    std::copy_n(text.data(), length, to);
    to[length] = '\0';
    return length == text.size();
}

int fail(int error, std::string_view line) noexcept {
    write_text(line, last_line.data(), last_line.size());
    return error;
}

const char* last_error() noexcept { return last_line.data(); }

int fail_with_current_exception() noexcept {
    try {
        throw;
    } catch (const Refusal& refusal) {
        return fail(refusal.error, refusal.line);
    } catch (const RankTaken& error) {
        return fail(EBUSY, error.what());
    } catch (const OtherSegment& error) {
        return fail(EEXIST, error.what());
    } catch (const std::system_error& error) {
        return fail(error.code().value(), error.what());
    } catch (const std::bad_alloc&) {
        return fail(ENOMEM, "out of memory");
    } catch (const std::length_error&) {  // more than any container can hold
        return fail(ENOMEM, "out of memory");
    } catch (const std::exception& error) {
        return fail(EINVAL, error.what());
    } catch (...) {
        return fail(EINVAL, "unknown failure");
    }
}

}  // namespace tollbar::detail::c_door
