/* SPDX-License-Identifier: Apache-2.0 */
/* A conjugate gradient in the style of the NAS benchmarks: one parallel region, five barriers an iteration. It is plain
 * OpenMP and shows what the preload serves: LD_PRELOAD=libtollbar_openmp.so ./cg [THREADS] */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { points = 4000, iterations = 60 };

static double x[points], r[points], p[points], q[points];

/* Row i of the matrix, times p: a chain of springs that are tied to the ground. */
static double row_times_p(int i) { return 2.1 * p[i] - (i > 0 ? p[i - 1] : 0) - (i + 1 < points ? p[i + 1] : 0); }

int main(int count, char** words) {
    double rho = points, step = 0, curvature = 0, next_rho = 0;

    if (count > 1) omp_set_num_threads(atoi(words[1]));
    const double begun = omp_get_wtime();
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < points; i++) r[i] = p[i] = 1;
        for (int iteration = 0; iteration < iterations; iteration++) {
#pragma omp for reduction(+ : curvature)
            for (int i = 0; i < points; i++) {
                q[i] = row_times_p(i);
                curvature += p[i] * q[i];
            }
#pragma omp single
            step = rho / curvature;
#pragma omp for reduction(+ : next_rho)
            for (int i = 0; i < points; i++) {
                x[i] += step * p[i];
                r[i] -= step * q[i];
                next_rho += r[i] * r[i];
            }
#pragma omp for
            for (int i = 0; i < points; i++) p[i] = r[i] + next_rho / rho * p[i];
#pragma omp single
            {
                rho = next_rho;
                curvature = next_rho = 0;
            }
        }
    }
    double sum = 0;
    for (int i = 0; i < points; i++) sum += x[i];
    printf("sum of x %.6f, residual below 1e-5: %s\n", sum, sqrt(rho) < 1e-5 ? "yes" : "no");
    fprintf(stderr, "%d iterations in %.1f ms\n", iterations, 1e3 * (omp_get_wtime() - begun));
    return 0;
}
