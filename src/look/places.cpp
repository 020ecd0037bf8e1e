// SPDX-License-Identifier: Apache-2.0
// The line is that of the table of lines; the function is the innermost one there, which may be inlined, by the debug
// information, else the symbol that reaches over the place.
#include "places.hpp"

#include "names.hpp"

#include "base/files.hpp"

#include <cstdio>
#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace tollbar::look {

namespace {

struct Question {
    Dwarf_Addr address = 0;
    std::string build_id;
    std::uint64_t inode = 0;
    std::vector<std::string> paths;
};

Question read(std::string_view line) {
    std::vector<std::string> fields;
    for (std::size_t end = 0; end != line.npos; line.remove_prefix(end == line.npos ? 0 : end + 1))
        fields.emplace_back(line.substr(0, end = line.find('\t')));
    if (fields.size() < 4) return {};
    return {.address = std::strtoull(fields[0].c_str(), nullptr, 16),
            .build_id = fields[1],
            .inode = std::strtoull(fields[2].c_str(), nullptr, 10),
            .paths = {fields.begin() + 3, fields.end()}};
}

std::string build_id_of(Dwfl_Module* module) {
    const unsigned char* bytes = nullptr;
    GElf_Addr at = 0;
    std::string digits;
    for (int left = dwfl_module_build_id(module, &bytes, &at); left > 0; --left, ++bytes) {
        char two[4];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(*bytes));
        digits += two;
    }
    return digits;
}

/// Parts of a program that lie in each other, the innermost first.
class Scopes {
public:
    template <class Find>
    explicit Scopes(Find find) {
        Dwarf_Die* scopes = nullptr;
        const int count = find(&scopes);
        if (count <= 0) return;
        first_.reset(scopes);
        count_ = static_cast<std::size_t>(count);
    }

    std::span<Dwarf_Die> all() const { return {first_.get(), count_}; }

private:
    struct Free {
        void operator()(Dwarf_Die* scopes) const { std::free(scopes); }  // NOLINT: libdw has taken it from malloc
    };
    std::unique_ptr<Dwarf_Die, Free> first_;
    std::size_t count_ = 0;
};

/// One file, at the addresses of its linker.
class Object {
public:
    /// No module where it is not the file that is asked for.
    Object(const Question& question, const std::string& path) {
        detail::File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        struct stat status {};
        if (!file || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return;
        if (question.build_id.empty() && (question.inode == 0 || status.st_ino != question.inode)) return;
        static char* no_paths = nullptr;
        static const Dwfl_Callbacks files = {.find_elf = nullptr,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = nullptr,
                                             .debuginfo_path = &no_paths};
        files_.reset(dwfl_begin(&files));
        if (files_ == nullptr) return;
        // Separate debug information is looked for from where the file has its name.
        const char* const name = path.ends_with("/exe") ? question.paths.front().c_str() : path.c_str();
        module_ = dwfl_report_elf(files_.get(), name, name, file.number(), 0, true);
        if (module_ != nullptr) file.release();
        dwfl_report_end(files_.get(), nullptr, nullptr);
        if (module_ != nullptr && !question.build_id.empty() && build_id_of(module_) != question.build_id)
            module_ = nullptr;
    }

    explicit operator bool() const { return module_ != nullptr; }

    std::string function(Dwarf_Addr address) const {
        Dwarf_Addr bias = 0;
        std::string own;
        if (Dwarf_Die* const unit = unit_of(address, bias)) {
            const Scopes scopes([&](Dwarf_Die** found) { return dwarf_getscopes(unit, address - bias, found); });
            for (Dwarf_Die& scope : scopes.all()) {
                const int tag = dwarf_tag(&scope);
                if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
                own = name_of(scope);
                if (tag == DW_TAG_inlined_subroutine && !own.empty()) return own;
                break;
            }
        }
        GElf_Off offset = 0;
        GElf_Sym symbol;
        const char* const name = dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
        // One that ends before names another function, whose own symbol has been stripped.
        return name != nullptr && offset < symbol.st_size ? brief(name) : own;
    }

    std::string line(Dwarf_Addr address) const {
        Dwarf_Addr bias = 0;
        int number = 0;
        Dwarf_Die* const unit = unit_of(address, bias);
        Dwarf_Line* const line = unit == nullptr ? nullptr : dwarf_getsrc_die(unit, address - bias);
        const char* const file = line == nullptr ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
        if (file == nullptr || dwarf_lineno(line, &number) != 0 || number == 0) return "";
        return file_name(file) + ":" + std::to_string(number);
    }

private:
    /// Without a table of addresses, which some compilers leave out, each unit is asked.
    Dwarf_Die* unit_of(Dwarf_Addr address, Dwarf_Addr& bias) const {
        if (Dwarf_Die* const unit = dwfl_module_addrdie(module_, address, &bias)) return unit;
        for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;)
            if (dwarf_haspc(unit, address - bias) > 0) return unit;
        return nullptr;
    }

    static const char* text_of(Dwarf_Die& die, unsigned kind) {
        Dwarf_Attribute found;
        return dwarf_formstring(dwarf_attr_integrate(&die, kind, &found));
    }

    /// That of a local function of C++ is put together of the names around it.
    static std::string name_of(Dwarf_Die& function) {
        for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
            if (const char* const name = text_of(function, kind)) return brief(name);
        const char* const own = text_of(function, DW_AT_name);
        if (own == nullptr) return "";
        std::string name = own;
        Dwarf_Die declared = function, origin;
        for (const unsigned kind : {DW_AT_abstract_origin, DW_AT_specification}) {
            Dwarf_Attribute found;
            if (dwarf_formref_die(dwarf_attr(&declared, kind, &found), &origin) != nullptr) declared = origin;
        }
        const Scopes around([&](Dwarf_Die** found) { return dwarf_getscopes_die(&declared, found); });
        for (Dwarf_Die& scope : around.all()) {
            const int tag = dwarf_tag(&scope);
            if (tag != DW_TAG_namespace && tag != DW_TAG_class_type && tag != DW_TAG_structure_type) continue;
            if (const char* const outer = dwarf_diename(&scope)) name = std::string(outer) + "::" + name;
        }
        return brief_of_plain(name);
    }

    struct End {
        void operator()(Dwfl* files) const { dwfl_end(files); }
    };
    std::unique_ptr<Dwfl, End> files_;
    Dwfl_Module* module_ = nullptr;
};

}  // namespace

void name_places(std::istream& questions, std::ostream& answers) {
    std::map<std::string, Object> objects;
    for (std::string line; std::getline(questions, line);) {
        const Question question = read(line);
        const Object* object = nullptr;
        for (const std::string& path : question.paths) {
            const std::string key = question.build_id + " " + std::to_string(question.inode) + " " + path;
            object = &objects.try_emplace(key, question, path).first->second;
            if (*object) break;
        }
        const bool found = object != nullptr && *object;
        answers << (found ? object->function(question.address) : "") << "\t"
                << (found ? object->line(question.address) : "") << std::endl;
    }
}

}  // namespace tollbar::look
