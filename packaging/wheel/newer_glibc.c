// SPDX-License-Identifier: Apache-2.0
// What GCC's libraries want of a newer glibc than that which wheels are made for. packaging/wheel/root puts it into the
// part of that glibc which is linked with every library and program.
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/// Without the names of glibc 2.35, which has the type.
struct found_object {
    unsigned long long flags;
    void *begin, *end;
    struct link_map* link_map;
    void* eh_frame;
    unsigned long long reserved[7];
};
/// Null where the glibc that runs is older than 2.35.
extern __attribute__((weak)) int _dl_find_object(void* address, struct found_object* result);

#pragma GCC visibility push(hidden)

/// Of glibc 2.32, for shared_ptr. Zero: there may be several threads.
char __libc_single_threaded = 0;

/// Of glibc 2.36, for random_device.
uint32_t arc4random(void) {
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number) abort();  // as glibc's: never so few bytes at a time
    return number;
}

/// The name by which the unwinder in a copy of libgcc_eh.a calls _dl_find_object.
int tollbar_find_object(void* address, struct found_object* result);

struct search {
    uintptr_t address;
    struct found_object* result;
};

/// Returns 1 for the object that has the address and can be unwound, -1 for one that cannot be, 0 for any other.
static int examine(struct dl_phdr_info* object, size_t size, void* given) {
    const struct search* search = given;
    uintptr_t begin = UINTPTR_MAX, end = 0, eh_frame = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const uintptr_t from = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) eh_frame = from;
        if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (from < begin) begin = from;
        if (from + object->dlpi_phdr[i].p_memsz > end) end = from + object->dlpi_phdr[i].p_memsz;
    }
    if (search->address < begin || search->address >= end) return 0;
    *search->result = (struct found_object){.begin = (void*)begin, .end = (void*)end, .eh_frame = (void*)eh_frame};
    return eh_frame != 0 ? 1 : -1;
}

int tollbar_find_object(void* address, struct found_object* result) {
    if (_dl_find_object != NULL) return _dl_find_object(address, result);
    struct search search = {(uintptr_t)address, result};
    return dl_iterate_phdr(examine, &search) == 1 ? 0 : -1;
}

#pragma GCC visibility pop
