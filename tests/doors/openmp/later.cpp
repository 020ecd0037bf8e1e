// SPDX-License-Identifier: Apache-2.0
// A runtime of one thread from the future: it has a way to open regions that nobody knows.
extern "C" {

int omp_get_num_procs() { return 1; }
int omp_get_num_threads() { return 1; }
int omp_get_thread_num() { return 0; }
int omp_get_cancellation() { return 0; }
void GOMP_barrier() {}
void GOMP_parallel(void (*body)(void*), void* data, unsigned, unsigned) { body(data); }
void GOMP_parallel_quantum(void (*body)(void*), void* data) { body(data); }
}
