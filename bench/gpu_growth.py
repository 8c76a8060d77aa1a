"""How time grows with tokens, layers and batch; and the loss of the fast formats compared with float32 on real text."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
from measuring import real_texts, seconds_of
from torch.nn.functional import cross_entropy

from glassformer.configs.presets import preset
from glassformer.model import Encoder, fast
from glassformer.training.data import load_data
from glassformer.training.tokenizers import Tokenizer

GROWTH: dict[str, dict[str, list[int]]] = {
    "tokens": {"t": [128, 256, 512, 1024, 2048, 4096, 8192], "batch": [8], "layers": [22]},
    "layers": {"t": [512], "batch": [64], "layers": [2, 4, 8, 12, 24]},
    "batch": {"t": [512], "batch": [1, 2, 4, 8, 16, 32, 64, 128], "layers": [12]},
}

SMALL = preset("bert-small").replace(dropout=0.0, pooler="none")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@torch.inference_mode()
def growth(name: str, over: str) -> dict[str, Any]:
    """Milliseconds of a forward pass in bfloat16, one axis growing at a time."""
    axes = GROWTH[over]
    found: dict[str, float] = {}
    for layers in axes["layers"]:
        spec = preset(name).replace(layers=layers, pooler="none")
        model = fast.apply(Encoder(spec, device="cuda", dtype=torch.bfloat16)).eval()
        for batch, t in product(axes["batch"], axes["t"]):
            tokens = torch.randint(5, 30000, (batch, t), device="cuda")
            size = {"tokens": t, "layers": layers, "batch": batch}[over]
            found[str(size)] = 1000 * statistics.median(seconds_of(partial(model, tokens), 8))
    return {"spec": name, "ms": found, "axes": axes}


HOWS = ("float32", "bfloat16", "float8")  # the last two with compiled layers where there is a GPU
Learning = tuple[Encoder, Callable[[], torch.Tensor]]  # a model, and the loss of its next batch


def curve(learns: str, *, how: str, steps: int, every: int = 20) -> dict[str, Any]:
    """The loss of BERT-small on real text: the same weights, batches and masks however it is computed."""
    torch.manual_seed(0)
    model, loss_of_next = LEARNS[learns](DEVICE)
    fast.apply(model, float8=how == "float8")
    if how != "float32" and DEVICE == "cuda":
        fast.compile_layers(model, varied=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=True)
    losses: list[torch.Tensor] = []
    for number in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 5e-4 * min(1.0, (number + 1) / 50)
        with torch.autocast(DEVICE, torch.bfloat16, enabled=how != "float32"):
            loss = loss_of_next()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.detach())
    means = torch.stack(losses).view(-1, every).mean(1).tolist()
    return {"every": every, "losses": [round(mean, 5) for mean in means]}


def masked_tokens(device: str, t: int = 128, rows: int = 64) -> Learning:
    """15% of the tokens of pieces of text are hidden."""
    texts = real_texts("mlm", "topic", split="train")
    tokenizer = Tokenizer.train(texts, vocab=8000)
    stream = torch.tensor([i for ids in tokenizer.encode(texts) for i in ids])
    pieces = stream[: len(stream) // t * t].view(-1, t)
    model = Encoder(SMALL.replace(head="mlm", vocab=8000), device=device).train()
    chance = torch.Generator().manual_seed(1)

    def loss() -> torch.Tensor:
        tokens = pieces[torch.randint(len(pieces), (rows,), generator=chance)]
        places = torch.randperm(tokens.numel(), generator=chance)[: int(0.15 * tokens.numel())].sort().values
        hidden = tokens.flatten().index_fill(0, places, tokenizer.mask_id).view_as(tokens).to(device)
        said = model(hidden, predict_at=places.to(device), only_logits=True).logits
        return cross_entropy(said.float(), tokens.flatten()[places].to(device))

    return model, loss


def topics(device: str, t: int = 96, rows: int = 64) -> Learning:
    """One of five classes for each text, cut to a rectangle of tokens."""
    data = load_data("topic")
    tokenizer = Tokenizer.train(data.train.inputs, vocab=8000)
    ids = [one[:t] for one in tokenizer.encode(data.train.inputs)]
    tokens = torch.tensor([[*one, *[tokenizer.pad_id] * (t - len(one))] for one in ids])
    real = torch.arange(t) < torch.tensor([len(one) for one in ids])[:, None]
    labels = torch.tensor(data.train.targets)
    model = Encoder(SMALL.replace(head="classify", classes=len(data.labels), vocab=8000, pooler="dense"), device=device).train()
    chance = torch.Generator().manual_seed(1)

    def loss() -> torch.Tensor:
        some = torch.randint(len(tokens), (rows,), generator=chance)
        said = model(tokens[some].to(device), real[some].to(device), only_logits=True).logits
        return cross_entropy(said.float(), labels[some].to(device))

    return model, loss


LEARNS: dict[str, Callable[[str], Learning]] = {"masked tokens": masked_tokens, "topics": topics}
