/* SPDX-License-Identifier: Apache-2.0 */
/* A reaction spreads over a ring of PEs. Each PE puts its border rows into its neighbours' halos and computes its
 * inside, once during tollbar's split barrier and once after shmem_barrier_all. */
#include <tollbar/shmem.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { width = 128, rows = 32, steps = 100, rounds = 5 };
enum { above, below };

typedef double row[width];

static tollbar_shmem_barrier* barrier; /* NULL while shmem_barrier_all is measured */
static row (*halo)[2];                 /* symmetric: [step % 2][above or below], put by the neighbours */
static row grids[2][rows];
static int me, pes;

/* The reaction flares up in changing places, so no PE has the same work in every step. */
static int reactions(int step) { return ((unsigned)me * 2654435761u ^ (unsigned)step * 40503u) >> 5 & 1 ? 30 : 5; }

static void compute(int step, int i) {
    row* from = grids[step % 2];
    const double* up = i == 0 ? halo[step % 2][above] : from[i - 1];
    const double* down = i == rows - 1 ? halo[step % 2][below] : from[i + 1];

    for (int j = 0; j < width; ++j) {
        const double left = from[i][(j + width - 1) % width], right = from[i][(j + 1) % width];
        double u = from[i][j] + 0.2 * (up[j] + down[j] + left + right - 4 * from[i][j]);
        for (int n = reactions(step); n > 0; --n) u += 1e-3 * u * (1 - u);
        grids[(step + 1) % 2][i][j] = u;
    }
}

/* Two halos alternate: when a neighbour puts into one, its owner has finished reading it. */
static void take_step(int step) {
    row* from = grids[step % 2];

    shmem_double_put_nbi(halo[step % 2][below], from[0], width, (me + pes - 1) % pes);
    shmem_double_put_nbi(halo[step % 2][above], from[rows - 1], width, (me + 1) % pes);
    if (barrier)
        tollbar_shmem_barrier_post(barrier); /* my borders are sent */
    else
        shmem_barrier_all();
    for (int i = 1; i < rows - 1; ++i) compute(step, i); /* needs no halo */
    if (barrier) tollbar_shmem_barrier_wait(barrier);    /* all borders have arrived */
    compute(step, 0);
    compute(step, rows - 1);
}

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns the milliseconds of all steps, and the result in `sum`. */
static double run(double* sum) {
    memset(grids, 0, sizeof grids);
    grids[0][rows / 2][width / 2] = me == 0 ? 1.0 : 0.0;
    shmem_barrier_all();
    const double began = now_ms();
    for (int step = 0; step < steps; ++step) take_step(step);
    shmem_barrier_all();
    const double took = now_ms() - began;

    *sum = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < width; ++j) *sum += grids[steps % 2][i][j];
    return took;
}

static int by_size(const void* one, const void* other) {
    const double a = *(const double*)one, b = *(const double*)other;
    return (a > b) - (a < b);
}

int main(void) {
    tollbar_shmem_barrier* split;
    double blocking_ms[rounds], split_ms[rounds], blocking_sum = 0, split_sum = 0;

    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    halo = shmem_calloc(2, sizeof *halo);
    if (halo == NULL || tollbar_shmem_barrier_create(NULL, NULL, &split) != 0) {
        fprintf(stderr, "%s\n", halo ? tollbar_shmem_last_error() : "the symmetric heap is too small");
        shmem_global_exit(1);
    }
    for (int i = 0; i < rounds; ++i) {
        barrier = NULL;
        blocking_ms[i] = run(&blocking_sum);
        barrier = split;
        split_ms[i] = run(&split_sum);
    }
    qsort(blocking_ms, rounds, sizeof *blocking_ms, by_size);
    qsort(split_ms, rounds, sizeof *split_ms, by_size);
    if (me == 0)
        printf("%d steps on %d PEs: %.1f ms with shmem_barrier_all, %.1f ms split (%s): %.2f times as fast, %s\n",
               steps, pes, blocking_ms[rounds / 2], split_ms[rounds / 2], tollbar_shmem_barrier_plan(split),
               blocking_ms[rounds / 2] / split_ms[rounds / 2], blocking_sum == split_sum ? "same result" : "WRONG");

    tollbar_shmem_barrier_destroy(split);
    shmem_free(halo);
    shmem_finalize();
    return blocking_sum == split_sum ? EXIT_SUCCESS : EXIT_FAILURE;
}
