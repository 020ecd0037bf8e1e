/* SPDX-License-Identifier: Apache-2.0
 * Communicators that come and go leave nothing behind: no memory, no file, no mapping.
 *
 * usage: growth PAGE CYCLES */
#include "toll.h"

#include <dirent.h>

static long lines_of(const char* path) {
    FILE* file = fopen(path, "r");
    long lines = 0;
    for (int letter; file != NULL && (letter = getc(file)) != EOF;) lines += letter == '\n';
    if (file != NULL) fclose(file);
    return lines;
}

static long entries_of(const char* path) {
    DIR* folder = opendir(path);
    long entries = 0;
    while (folder != NULL && readdir(folder) != NULL) ++entries;
    if (folder != NULL) closedir(folder);
    return entries;
}

static long resident_kb(void) {
    char line[256];
    long kb = 0;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "VmRSS: %ld kB", &kb);
    if (file != NULL) fclose(file);
    return kb;
}

static void cycle(struct toll* toll) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    toll->comm = comm; /* the board stays */
    toll_barrier(toll, -1);
    toll_pay(toll);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    toll_check(toll);
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    toll_start(argv);
    struct toll toll = toll_open(MPI_COMM_WORLD, 0);
    const int cycles = atoi(argv[2]);
    for (int i = 0; i < cycles / 10; ++i) cycle(&toll); /* what is kept for the next time is there now */
    const long kb = resident_kb(), files = entries_of("/proc/self/fd"), mappings = lines_of("/proc/self/maps");
    for (int i = 0; i < cycles; ++i) cycle(&toll);
    const long more_kb = resident_kb() - kb, more_files = entries_of("/proc/self/fd") - files;
    const long more_mappings = lines_of("/proc/self/maps") - mappings;
    if (more_kb > 5 * 1024) toll_fail("%ld kB more after %d communicators", more_kb, cycles);
    if (more_files > 2) toll_fail("%ld open files more after %d communicators", more_files, cycles);
    if (more_mappings > 16) toll_fail("%ld mappings more after %d communicators", more_mappings, cycles);
    return toll_end();
}
