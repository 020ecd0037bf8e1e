# SPDX-License-Identifier: Apache-2.0
"""A computation of a library that brings OpenMP along: prints what it came to, then how many milliseconds it took, the
median of a few.

usage: openmp_programs.py xgboost|lightgbm THREADS"""

import hashlib
import statistics
import sys
import time

import numpy


def data() -> tuple[numpy.ndarray, numpy.ndarray]:
    """Rows and what is to be learned from them."""
    random = numpy.random.default_rng(1)
    rows = random.standard_normal((4000, 20), dtype=numpy.float32)
    return rows, rows[:, 0] * rows[:, 1] + numpy.sin(rows[:, 2])


def xgboost(threads: int):
    import xgboost

    rows, wanted = data()
    given = xgboost.DMatrix(rows, wanted, nthread=threads)
    options = {"nthread": threads, "tree_method": "hist", "max_depth": 6, "seed": 1}
    return lambda: xgboost.train(options, given, 30).predict(given)


def lightgbm(threads: int):
    import lightgbm

    rows, wanted = data()
    options = {"num_threads": threads, "deterministic": True, "force_row_wise": True, "verbosity": -1, "seed": 1}
    return lambda: lightgbm.train(options, lightgbm.Dataset(rows, wanted), 40).predict(rows, num_threads=threads)


def main(name: str, threads: str) -> None:
    compute = {"xgboost": xgboost, "lightgbm": lightgbm}[name](int(threads))
    result = numpy.ascontiguousarray(compute())  # makes the threads
    took = []
    for _ in range(5):
        begun = time.perf_counter()
        compute()
        took.append(time.perf_counter() - begun)
    print(f"{result.shape} {hashlib.sha256(result.tobytes()).hexdigest()[:12]}")
    print(f"{1e3 * statistics.median(took):.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
