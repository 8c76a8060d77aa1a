"""How time grows with tokens, layers and batch; and the loss of the fast way beside float32's on real text."""

from __future__ import annotations

import statistics
from functools import partial
from itertools import product
from typing import Any

import torch
from measuring import real_texts, seconds_of
from torch.nn.functional import cross_entropy

from glassformer.model import Encoder
from glassformer.model.compiling import compile_layers
from glassformer.spec.presets import preset
from glassformer.training.tokenizers import Tokenizer

GROWTH: dict[str, dict[str, list[int]]] = {
    "tokens": {"t": [128, 256, 512, 1024, 2048, 4096, 8192], "batch": [8], "layers": [22]},
    "layers": {"t": [512], "batch": [64], "layers": [2, 4, 8, 12, 24]},
    "batch": {"t": [512], "batch": [1, 2, 4, 8, 16, 32, 64, 128], "layers": [12]},
}


@torch.inference_mode()
def growth(name: str, over: str) -> dict[str, Any]:
    """Milliseconds of a forward pass in bfloat16, one axis growing at a time."""
    axes = GROWTH[over]
    found: dict[str, float] = {}
    for layers in axes["layers"]:
        model = Encoder(preset(name).replace(layers=layers, pooler="none"), device="cuda", dtype=torch.bfloat16).eval()
        for batch, t in product(axes["batch"], axes["t"]):
            tokens = torch.randint(5, 30000, (batch, t), device="cuda")
            size = {"tokens": t, "layers": layers, "batch": batch}[over]
            found[str(size)] = 1000 * statistics.median(seconds_of(partial(model, tokens), 8))
    return {"spec": name, "ms": found, "axes": axes}


def curve(*, fast: bool, steps: int, every: int = 20, name: str = "bert-small", t: int = 128, rows: int = 64) -> dict[str, Any]:
    """The loss on real text, the same batches and masks in both ways: float32, or autocast, on a GPU with compiled layers."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    texts = real_texts("mlm", "topic", split="train")
    tokenizer = Tokenizer.train(texts, vocab=8000)
    stream = torch.tensor([i for ids in tokenizer.encode(texts) for i in ids])
    pieces = stream[: len(stream) // t * t].view(-1, t)
    spec = preset(name).replace(head="mlm", vocab=8000, dropout=0.0, pooler="none")
    model = Encoder(spec, device=device).train()
    if fast and device == "cuda":
        compile_layers(model, varied=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=True)
    chance = torch.Generator().manual_seed(1)
    losses: list[float] = []
    sums: list[torch.Tensor] = []
    for number in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 5e-4 * min(1.0, (number + 1) / 50)
        tokens = pieces[torch.randint(len(pieces), (rows,), generator=chance)]
        places = torch.randperm(tokens.numel(), generator=chance)[: int(0.15 * tokens.numel())].sort().values
        labels = tokens.flatten()[places].to(device)
        hidden = tokens.flatten().index_fill(0, places, tokenizer.mask_id).view_as(tokens)
        with torch.autocast(device, torch.bfloat16, enabled=fast):
            loss = cross_entropy(model(hidden.to(device), predict_at=places.to(device)).logits.float(), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        sums.append(loss.detach())
        if (number + 1) % every == 0:
            losses.append(float(torch.stack(sums).mean()))
            sums = []
    return {"every": every, "losses": [round(loss, 5) for loss in losses]}
