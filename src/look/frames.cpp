// SPDX-License-Identifier: Apache-2.0
// Gives libdw the copied registers and memory by its callbacks, and names what it finds.
#include "frames.hpp"

#include "names.hpp"

#include "base/fnv.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace tollbar::look {

namespace {

using detail::fnv1a;

constexpr std::size_t most_frames = 64;
constexpr std::size_t marked_bytes = 4096;

using Beginning = std::array<std::byte, 4096>;

/// Whether a file is the one that the process has at that address: the other end of its path may be in another mount
/// namespace, or have been replaced since. Its beginning says so, with the number that the linker has given.
bool is_mapped_at(const Process& process, Address base, const detail::File& file) {
    constexpr std::string_view build_id("\x03\0\0\0GNU\0", 8);
    Beginning there{}, here{};
    struct stat status {};
    if (!file || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    if (pread(file.number(), here.data(), here.size(), 0) <= 0 || !process.read(base, there) || there != here)
        return false;
    const std::string_view bytes(reinterpret_cast<const char*>(here.data()), here.size());
    return bytes.find(build_id) != bytes.npos || process.is_file(base, status.st_ino);
}

/// The functions in which threads begin.
bool is_start(const Frame& frame) {
    return frame.symbol == "_start" || frame.symbol.find("clone") != std::string::npos ||
           frame.symbol == "__libc_start_main" || frame.symbol == "start_thread";
}

}  // namespace

struct Unwinder::State {
    const Process& process;
    Dwfl* modules = nullptr;
    Thread* thread = nullptr;
    std::optional<Address> frame_pointer = std::nullopt;

    void name(Frame& frame, Address inside) const {
        Dwfl_Module* const module = dwfl_addrmodule(modules, inside);
        if (module == nullptr) return;
        const std::string place = process.place_in_file(inside);
        if (const auto known = named().find(place); !place.empty() && known != named().end()) {
            std::tie(frame.symbol, frame.module, frame.source) = known->second;
            return;
        }
        GElf_Off offset = 0;
        GElf_Sym symbol;
        const char* const name = dwfl_module_addrinfo(module, inside, &offset, &symbol, nullptr, nullptr, nullptr);
        if (name != nullptr) frame.symbol = demangled(name);
        frame.module = file_name(
            dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
        if (Dwfl_Line* const line = dwfl_module_getsrc(module, inside)) {
            int number = 0;
            const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
            if (file != nullptr) frame.source = file_name(file) + ":" + std::to_string(number);
        }
        if (!frame.symbol.empty()) named()[place] = {frame.symbol, frame.module, frame.source};
    }

    /// Symbol, module and source of the places in files that have been named: ranks of a job stand at the same ones,
    /// and the symbols and lines of a file are read anew for each process.
    static std::map<std::string, std::tuple<std::string, std::string, std::string>>& named() {
        static std::map<std::string, std::tuple<std::string, std::string, std::string>> all;
        return all;
    }

    /// The file of a module, for libdw: in the process's own mount namespace, or the very one that it has mapped.
    static int find_elf(Dwfl_Module* module, void** self, const char* name, Dwarf_Addr base, char** opened, Elf** elf) {
        if (*self == nullptr || name[0] != '/') return dwfl_linux_proc_find_elf(module, self, name, base, opened, elf);
        const Process& process = static_cast<const State*>(*self)->process;
        const std::string folder = "/proc/" + std::to_string(process.number());
        for (const std::string& path :
             {folder + "/root" + name, folder + "/map_files/" + process.bounds(base), folder + "/exe"}) {
            detail::File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
            if (!is_mapped_at(process, base, file)) continue;
            *opened = strdup(path.c_str());
            return file.release();
        }
        return -1;
    }

    bool read(Address from, Dwarf_Word* to) const {
        const auto& copy = thread->stack;
        if (from >= thread->stack_pointer && from - thread->stack_pointer + sizeof *to <= copy.size()) {
            std::memcpy(to, copy.data() + (from - thread->stack_pointer), sizeof *to);
            return true;
        }
        const auto word = process.get<Dwarf_Word>(from);
        if (word) *to = *word;
        return word.has_value();
    }

    static auto kept(Dwfl_Frame* frame) {
        std::array<Address, callee_saved.size()> values{};
        std::ranges::transform(callee_saved, values.begin(), [&](unsigned number) {
            Dwarf_Word value = 0;
            return dwfl_frame_reg(frame, number, &value) == 0 ? value : 0;
        });
        return values;
    }

    std::uint64_t mark(const Frame& frame) const {
        const Address stack = frame.stack;
        const std::uint64_t hash = fnv1a(std::as_bytes(std::span(frame.kept)));
        const std::size_t from = stack - thread->stack_pointer;
        if (stack < thread->stack_pointer || from >= thread->stack.size()) return hash;
        return fnv1a(std::span(thread->stack).subspan(from, std::min(marked_bytes, thread->stack.size() - from)), hash);
    }

    static int add_frame(Dwfl_Frame* found, void* self) {
        const State& state = *static_cast<State*>(self);
        Dwarf_Addr at = 0;
        bool interrupted = false;
        if (!dwfl_frame_pc(found, &at, &interrupted)) return DWARF_CB_ABORT;
        Frame frame;
        frame.at = at;
        dwfl_frame_reg(found, stack_register, &frame.stack);
        frame.kept = kept(found);
        frame.mark = state.mark(frame);
        state.name(frame, at - (interrupted ? 0 : 1));
        state.thread->frames.push_back(frame);
        return state.thread->frames.size() < most_frames ? DWARF_CB_OK : DWARF_CB_ABORT;
    }

    static bool set_registers(Dwfl_Thread* thread, void* self) {
        const State& state = *static_cast<State*>(self);
        const Thread& from = *state.thread;
        if (from.held()) {
            std::array<Dwarf_Word, registers> values;
            std::ranges::copy(from.saved, values.begin());
            return dwfl_thread_state_registers(thread, 0, registers, values.data());
        }
        const Dwarf_Word stack = from.stack_pointer;
        if (state.frame_pointer) {
            const Dwarf_Word pointer = *state.frame_pointer;
            dwfl_thread_state_registers(thread, frame_register, 1, &pointer);
        }
        if (!dwfl_thread_state_registers(thread, stack_register, 1, &stack)) return false;
        dwfl_thread_state_register_pc(thread, from.program_counter);
        return true;
    }

    void run() {
        thread->frames.clear();
        dwfl_getthread_frames(modules, thread->number, add_frame, this);
        // A wrong frame pointer may lead to the start as well, but through what is no code.
        thread->complete = !thread->frames.empty() && is_start(thread->frames.back()) &&
                           std::ranges::none_of(thread->frames, &std::string::empty, &Frame::module);
    }
};

Unwinder::Unwinder(const Process& process) : state_(new State{process}) {
    static char* no_paths = nullptr;
    static const Dwfl_Callbacks files = {.find_elf = State::find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = nullptr,
                                         .debuginfo_path = &no_paths};
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = [](Dwfl*, void*, void**) -> pid_t { return 0; },
        .get_thread =
            [](Dwfl*, pid_t, void* self, void** thread) {
                *thread = self;
                return true;
            },
        .memory_read = [](Dwfl*, Dwarf_Addr from, Dwarf_Word* to,
                          void* self) { return static_cast<State*>(self)->read(from, to); },
        .set_initial_registers = State::set_registers,
        .detach = nullptr,
        .thread_detach = nullptr};
    state_->modules = dwfl_begin(&files);
    if (dwfl_linux_proc_report(state_->modules, process.number()) != 0) return;
    dwfl_report_end(state_->modules, nullptr, nullptr);
    const auto give_state = [](Dwfl_Module*, void** given, const char*, Dwarf_Addr, void* state) -> int {
        *given = state;
        return DWARF_CB_OK;
    };
    dwfl_getmodules(state_->modules, give_state, state_.get(), 0);
    dwfl_attach_state(state_->modules, nullptr, process.number(), &threads, state_.get());
}

Unwinder::~Unwinder() { dwfl_end(state_->modules); }

void Unwinder::unwind(Thread& thread) {
    state_->thread = &thread;
    state_->frame_pointer.reset();
    state_->run();
    if (thread.complete || thread.held()) return;
    const std::vector<Frame> without = thread.frames;
    constexpr std::size_t word = sizeof(Address);
    for (std::size_t at = 0; at + 2 * word <= std::min<std::size_t>(thread.stack.size(), marked_bytes); at += word) {
        std::array<Address, 2> pair{};  // a saved frame pointer and a return address
        std::memcpy(pair.data(), thread.stack.data() + at, sizeof pair);
        const Address here = thread.stack_pointer + at;
        const bool leads_up = pair[0] > here && pair[0] - thread.stack_pointer < thread.stack.size();
        if (!leads_up || dwfl_addrmodule(state_->modules, pair[1]) == nullptr) continue;
        state_->frame_pointer = here;
        state_->run();
        if (thread.complete) return;
    }
    thread.frames = without;
}

Address Unwinder::symbol(std::string_view module, std::string_view name) const {
    struct Search {
        std::string_view module, name;
        Address found = 0;
    } search{module, name};
    const auto in_module = [](Dwfl_Module* one, void**, const char* file, Dwarf_Addr, void* wanted) -> int {
        Search& asked = *static_cast<Search*>(wanted);
        if (!file_name(file).starts_with(asked.module)) return DWARF_CB_OK;
        for (int i = 1, symbols = dwfl_module_getsymtab(one); i < symbols; ++i) {
            GElf_Sym symbol;
            GElf_Addr at = 0;
            const char* const here = dwfl_module_getsym_info(one, i, &symbol, &at, nullptr, nullptr, nullptr);
            if (here == nullptr || symbol.st_shndx == SHN_UNDEF || here != asked.name) continue;
            asked.found = at;
            return DWARF_CB_ABORT;
        }
        return DWARF_CB_OK;
    };
    dwfl_getmodules(state_->modules, in_module, &search, 0);
    return search.found;
}

}  // namespace tollbar::look
