// SPDX-License-Identifier: Apache-2.0
// The thread's last error line, and what errno values mean to users of tollbar.h.
#include "error.hpp"

#include "transports/threads/refusals.hpp"

#include <tollbar/tollbar.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace tollbar::c_door {

namespace {

/// Of fixed size: noting an error must not need memory.
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
    } catch (const SeatTaken& error) {
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

}  // namespace tollbar::c_door

const char* tollbar_last_error(void) { return tollbar::c_door::last_error(); }

const char* tollbar_strerror(int error) {
    switch (error) {
        case 0: return "success";
        case EAGAIN: return "not over yet";
        case EINVAL: return "an argument is wrong";
        case EBUSY: return "the rank is taken";
        case ETIMEDOUT: return "time ran out; the wait may be repeated";
        case ENOSPC: return "not enough room";
        case EEXIST: return "the name belongs to another group, or to no group at all";
        default: break;
    }
    const char* text = strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}
