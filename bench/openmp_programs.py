# SPDX-License-Identifier: Apache-2.0
"""A computation of a library that brings OpenMP along: prints what it came to, then how many milliseconds it took, the
median of a few.

usage: openmp_programs.py ggml|xgboost|lightgbm THREADS"""

import hashlib
import itertools
import os
import statistics
import sys
import tempfile
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


def write_model(path: str) -> None:
    """A llama with random weights: small enough to be made here, with all the layers of a large one."""
    import gguf

    width, hidden, layers, words = 128, 256, 4, 300
    random = numpy.random.default_rng(1)
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(256)
    file.add_embedding_length(width)
    file.add_feed_forward_length(hidden)
    file.add_block_count(layers)
    file.add_head_count(4)
    file.add_head_count_kv(4)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_tokenizer_model("llama")
    file.add_token_list(
        ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *(f"w{i}" for i in range(41))]
    )
    file.add_token_scores([0.0] * words)
    file.add_token_types([2, 3, 3, *[6] * 256, *[1] * 41])

    def add(name: str, *shape: int) -> None:
        ones = len(shape) == 1
        weights = numpy.ones(shape) if ones else random.standard_normal(shape) / numpy.sqrt(shape[-1])
        file.add_tensor(f"{name}.weight", weights.astype(numpy.float32))

    add("token_embd", words, width)
    add("output", words, width)
    add("output_norm", width)
    for layer in range(layers):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{name}", width, width)
        add(f"blk.{layer}.ffn_gate", hidden, width)
        add(f"blk.{layer}.ffn_up", hidden, width)
        add(f"blk.{layer}.ffn_down", width, hidden)
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{layer}.{name}", width)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def ggml(threads: int):
    import llama_cpp

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        write_model(path)
        model = llama_cpp.Llama(
            path, n_ctx=256, n_threads=threads, n_threads_batch=threads, logits_all=True, verbose=False
        )
    prompt, length = [1, *range(3, 19)], 80

    def generate() -> numpy.ndarray:
        tokens = list(itertools.islice(model.generate(prompt, temp=0.0), length))
        return numpy.column_stack((tokens, model.scores[len(prompt) - 1 :][:length].max(axis=1)))

    return generate


def main(name: str, threads: str) -> None:
    compute = {"ggml": ggml, "xgboost": xgboost, "lightgbm": lightgbm}[name](int(threads))
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
