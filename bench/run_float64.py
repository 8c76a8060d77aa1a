"""A float64 run of BERT-base at 128 tokens with every number kept, against transformers' forward pass in the same process.

    python bench/run_float64.py [--tokens 128] [--rounds 5]

Goals: at most 2.5 times the forward pass; a cell explained in under 50 ms; memory that is weights and intermediates, once.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import glassformer as gf
from glassformer.numbers import Run, random_weights, run
from glassformer.program import build


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def explained(done: Run, name: str, cell: dict[str, int]) -> str:
    return done.explain(name, **cell).text()


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def theirs(tokens: np.ndarray[Any, Any], threads: int) -> Callable[[], Any]:
    """transformers' BertModel in float64, as it comes: its fastest attention, nothing kept but the last layer."""
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    torch.set_num_threads(threads)
    model = transformers.BertModel(transformers.BertConfig()).to(torch.float64).eval()
    ids = torch.as_tensor(tokens)

    def forward() -> Any:
        with torch.no_grad():
            return model(ids)

    return forward


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    threads = os.cpu_count() or 1

    program = build(gf.spec("bert-base"), t=asked.tokens)
    tokens = np.random.default_rng(0).integers(0, 30522, (1, asked.tokens))
    weights = random_weights(program)
    weight_bytes = sum(value.nbytes for value in weights.values())
    before = peak_bytes()
    first = run(program, weights, {"tokens": tokens})
    kept_bytes = sum(value.nbytes for value in first.values.values()) - weight_bytes
    print(f"memory: weights {weight_bytes / 1e6:.0f} MB, {len(program.steps)} intermediates {kept_bytes / 1e6:.0f} MB; ", end="")
    print(f"the run added {(peak_bytes() - before) / 1e6:.0f} MB to the process")

    rng = np.random.default_rng(1)
    slowest, slowest_name = 0.0, ""
    for step in program.steps:
        cell = {axis.name: int(rng.integers(axis.size)) for axis in step.output.axes}
        again = functools.partial(explained, first, step.name, cell)
        seconds = min(timed(again), timed(again))
        slowest, slowest_name = max((slowest, slowest_name), (seconds, step.name))
    print(f"explain: slowest of {len(program.steps)} cells {1000 * slowest:.1f} ms ({slowest_name})")
    del first

    forward = theirs(tokens, threads)
    forward()
    pairs = [(timed(lambda: run(program, weights, {"tokens": tokens})), timed(forward)) for _ in range(asked.rounds)]
    ours, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"run: {1000 * ours:.0f} ms, transformers {1000 * other:.0f} ms ({threads} threads each); ratio {ours / other:.2f}")


if __name__ == "__main__":
    main()
