// SPDX-License-Identifier: Apache-2.0
// Open MPI's objects begin with their class, which is exported; MPICH's handles are numbers of a known form.
#include "communicators.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <set>

namespace tollbar::look {

namespace {

/// The index of the outermost frame of a call of the MPI.
std::optional<std::size_t> outermost_call(const Thread& thread) {
    for (std::size_t i = thread.frames.size(); i-- > 0;)
        if (thread.frames[i].symbol.starts_with("PMPI_") || thread.frames[i].symbol.starts_with("MPI_")) return i;
    return std::nullopt;
}

std::optional<Communicator> of_mpich(Address value) {
    const auto handle = static_cast<std::uint32_t>(value);
    if (handle != value) return std::nullopt;
    constexpr std::uint32_t world = 0x44000000, self = 0x44000001, made = 0x84000000, most_made = 0x10000;
    if (handle == world) return Communicator{"MPI_COMM_WORLD", 0, -1};
    if (handle == self) return Communicator{"MPI_COMM_SELF", 1, -1};
    if (handle < made || handle >= made + most_made) return std::nullopt;
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "communicator 0x%x", handle);
    return Communicator{name.data(), handle, -1};
}

}  // namespace

Communicators::Communicators(const Process& process, Unwinder& unwinder) : process_(process) {
    constexpr std::string_view name("MPI_COMM_WORLD\0", 15);
    const Address of_class = unwinder.symbol("libmpi.", "ompi_communicator_t_class");
    // Its place is in the program, where that refers to it.
    const Address world = of_class == 0 ? 0 : unwinder.symbol("", "ompi_mpi_comm_world");
    std::array<char, 600> bytes{};
    if (of_class == 0 || world == 0 || process.get<Address>(world) != of_class) return;
    if (!process.read(world, std::as_writable_bytes(std::span(bytes)))) return;
    name_at_ = std::string_view(bytes.data(), bytes.size()).find(name);
    class_ = of_class;
    const auto shown = name_at_ == std::string_view::npos ? std::nullopt : of_open_mpi(world);
    if (!shown || shown->number != 0) class_ = 0;
}

std::optional<Communicator> Communicators::of_open_mpi(Address at) const {
    struct Layout {
        std::array<char, 64> name;
        std::uint32_t number;
        std::int32_t rank;
    };
    if (at % sizeof(Address) != 0 || process_.get<Address>(at) != class_) return std::nullopt;
    const auto object = process_.get<Layout>(at + name_at_);
    if (!object || object->rank < 0 || std::memchr(object->name.data(), 0, object->name.size()) == nullptr)
        return std::nullopt;
    return Communicator{object->name.data(), object->number, object->rank};
}

void Communicators::find(Thread& thread) const {
    const auto call = outermost_call(thread);
    const bool mpich = class_ == 0 && call && thread.frames[*call].module.starts_with("libmpich");
    if (!call || (class_ == 0 && !mpich) || *call + 1 >= thread.frames.size()) return;
    const auto add = [&](const std::optional<Communicator>& one) {
        const auto same = [&](const Communicator& other) { return other.number == one->number; };
        if (one && std::ranges::none_of(thread.communicators, same)) thread.communicators.push_back(*one);
    };
    // Registers are alive; the stack may have what earlier calls left over.
    for (std::size_t i = *call + 1; i-- > 0;)
        for (const Address value : thread.frames[i].kept) add(mpich ? of_mpich(value) : of_open_mpi(value));
    if (!thread.communicators.empty()) return;
    const Address above = thread.frames[*call + 1].stack;
    if (above <= thread.stack_pointer) return;
    const std::size_t step = mpich ? sizeof(std::uint32_t) : sizeof(Address);
    std::set<Address> tried;
    for (std::size_t at = std::min<std::size_t>(above - thread.stack_pointer, thread.stack.size()) / step; at-- > 0;) {
        Address value = 0;
        std::memcpy(&value, thread.stack.data() + at * step, step);
        if (tried.insert(value).second) add(mpich ? of_mpich(value) : of_open_mpi(value));
    }
}

}  // namespace tollbar::look
