"""The bytes of `gf.cost` compared with the bytes of a real step on a CPU, counting every tensor from creation to release.

python bench/memory.py [--out figures.json]
"""

from __future__ import annotations

import argparse
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import torch
from measuring import Figures
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import glassformer as gf
from glassformer.model import Encoder, fast
from glassformer.model.fast.checkpointing import checkpoint_layers


class Counter(TorchDispatchMode):
    """Counts the bytes of all storages that are alive, and the most there were."""

    def __init__(self) -> None:
        super().__init__()
        self.alive = self.most = 0
        self.known: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, torch.Tensor):
                self.count(value)
        return result

    def count(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self.known or not storage.nbytes():
            return
        self.known[key] = storage.nbytes()
        self.alive += storage.nbytes()
        self.most = max(self.most, self.alive)
        weakref.finalize(storage, self.forget, key)

    def forget(self, key: int) -> None:
        self.alive -= self.known.pop(key, 0)


def counted(
    name: str, *, train: bool, dtype: str, batch: int, t: int, checkpointing: bool = False, **fields: Any
) -> dict[str, Any]:
    """The peak of the second step, when the optimizer has its state, and the prediction."""
    spec = gf.spec(name, **{"dropout": 0.0, "pooler": "none"} | fields)
    encoder = fast.apply(Encoder(spec, dtype=torch.bfloat16 if dtype == "bfloat16" and not train else None)).train(train)
    if checkpointing:
        checkpoint_layers(encoder)
    tokens = torch.randint(5, spec.vocab or 9, (batch, t))
    places = torch.randperm(batch * t)[: int(0.15 * batch * t)].sort().values
    labels = tokens.flatten()[places]
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
            output = encoder(tokens, predict_at=places, only_logits=True) if spec.head == "mlm" else encoder(tokens)
            if spec.head == "mlm":
                loss = torch.nn.functional.cross_entropy(output.logits.float(), labels)
            else:
                loss = output.states.float().square().mean()
        del output
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    counter = Counter()
    for value in encoder.parameters():
        counter.count(value.data)
    if train:
        step()
        for state in optimizer.state.values():
            for value in state.values():
                counter.count(value)
        with counter:
            step()
    else:
        with torch.inference_mode(), counter:
            encoder(tokens)
    how: dict[str, Any] = {"train": train, "kernel": "fused", "checkpointing": checkpointing, "dtype": dtype}
    said = gf.cost(spec, batch=batch, t=t, masked=0.15 if spec.head == "mlm" else 1.0, **how)
    return {"counted_mb": counter.most / 1e6, "predicted_mb": said.memory.peak / 1e6, "ratio": said.memory.peak / counter.most}


CASES: dict[str, dict[str, Any]] = {
    "bert-small, training, float32, 8 x 128": {"name": "bert-small", "train": True, "dtype": "float32", "batch": 8, "t": 128},
    "bert-small, training, float32, 64 x 128": {"name": "bert-small", "train": True, "dtype": "float32", "batch": 64, "t": 128},
    "bert-small of 12 layers, training, float32, 32 x 128": {
        "name": "bert-small", "train": True, "dtype": "float32", "batch": 32, "t": 128, "layers": 12,
    },
    "bert-small of 12 layers, training with checkpointing, float32, 32 x 128": {
        "name": "bert-small", "train": True, "dtype": "float32", "batch": 32, "t": 128, "layers": 12, "checkpointing": True,
    },
    "bert-small, training, bfloat16, 64 x 128": {"name": "bert-small", "train": True, "dtype": "bfloat16", "batch": 64, "t": 128},
    "bert-small with head=mlm, training, float32, 32 x 128": {
        "name": "bert-small", "train": True, "dtype": "float32", "batch": 32, "t": 128, "head": "mlm",
    },
    "bert-small with head=mlm, training, bfloat16, 32 x 128": {
        "name": "bert-small", "train": True, "dtype": "bfloat16", "batch": 32, "t": 128, "head": "mlm",
    },
    "bert-small, forward, float32, 64 x 128": {"name": "bert-small", "train": False, "dtype": "float32", "batch": 64, "t": 128},
    "modernbert-base of 4 layers, forward, float32, 8 x 256": {
        "name": "modernbert-base", "train": False, "dtype": "float32", "batch": 8, "t": 256, "layers": 4,
    },
    "modernbert-base of 4 layers, training, float32, 8 x 256": {
        "name": "modernbert-base", "train": True, "dtype": "float32", "batch": 8, "t": 256, "layers": 4,
    },
    "bert-small with a bias by distance, training, float32, 8 x 256": {
        "name": "bert-small", "train": True, "dtype": "float32", "batch": 8, "t": 256, "position": "learned_relative",
    },
    "t5-small, training, float32, 8 x 256": {"name": "t5-small", "train": True, "dtype": "float32", "batch": 8, "t": 256},
    "t5-small, training, bfloat16, 8 x 256": {"name": "t5-small", "train": True, "dtype": "bfloat16", "batch": 8, "t": 256},
    "deberta-v3-xsmall of 4 layers, training, float32, 8 x 128": {
        "name": "deberta-v3-xsmall", "train": True, "dtype": "float32", "batch": 8, "t": 128, "layers": 4, "vocab": 30000,
    },
    "deberta-v3-xsmall of 4 layers, training, bfloat16, 8 x 128": {
        "name": "deberta-v3-xsmall", "train": True, "dtype": "bfloat16", "batch": 8, "t": 128, "layers": 4, "vocab": 30000,
    },
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    figures = Figures(parser.parse_args().out, 3600)
    for name, case in CASES.items():
        figures.row("memory", name, partial(counted, **case))


if __name__ == "__main__":
    main()
