/* SPDX-License-Identifier: Apache-2.0
 * Writes parameters of the component through MPI_T while the program runs: NAME VALUE pairs, each followed by a new
 * communicator of that name and its barrier.
 *
 * usage: settings PAGE [NAME VALUE]... */
#include "../../mpi/toll.h"

static void set(const char* name, const char* value) {
    int index = 0, count = 0, verbosity = 0, binding = 0, scope = 0, length = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    char text[256] = "";
    toll_expect(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    toll_expect(MPI_T_cvar_get_info(index, NULL, NULL, &verbosity, &type, &enumeration, text, &(int){sizeof text},
                                    &binding, &scope) == MPI_SUCCESS);
    toll_expect(strlen(text) > 10); /* what it is for */
    toll_expect(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    const int number = atoi(value);
    const double real = atof(value);
    const void* data = type == MPI_CHAR ? (const void*)value : type == MPI_DOUBLE ? (const void*)&real : &number;
    toll_expect(MPI_T_cvar_write(handle, data) == MPI_SUCCESS);
    MPI_T_cvar_handle_free(&handle);
    (void)length;
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    toll_start(argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 2; i + 1 < argc; i += 2) {
        MPI_Comm comm;
        set(argv[i], argv[i + 1]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_name(comm, argv[i]);
        struct toll toll = toll_open(comm, i);
        for (int late = 0; late < toll_world; ++late) toll_barrier(&toll, late);
        MPI_Comm_free(&comm);
    }
    MPI_T_finalize();
    return toll_end();
}
