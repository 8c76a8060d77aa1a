"""Training steps of our encoder and of what people use today, each made ready to be timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from measuring import Gate, mixed_lengths, rates, seconds_of
from torch.nn.functional import cross_entropy

import glassformer as gf
from glassformer.configs.presets import preset
from glassformer.model import Encoder, fast

SHARE = 0.15  # of the tokens are masked
Step = Callable[[], torch.Tensor]


IN_A_ROW = 4  # steps that are timed together, as in a run: the host does not wait for the device after each


def measured(make: Callable[[], Step], tokens: float, rounds: int = 12) -> dict[str, float]:
    """Thousand tokens a second and the peak of memory; the compilation is not timed."""
    torch.cuda.reset_peak_memory_stats()
    step = make()
    seconds_of(step, 0)
    with Gate():
        times = seconds_of(lambda: [step() for _ in range(IN_A_ROW)], rounds, 1)
        found = rates(times, IN_A_ROW * tokens / 1000)
    return found | {"peak_gb": torch.cuda.max_memory_allocated() / 1e9}


def trainer(model: torch.nn.Module, loss: Step) -> Step:
    """One step: autocast to bfloat16, fused AdamW on float32 weights."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> torch.Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            value = loss()
        value.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return value

    return step


def random_tokens(batch: int, length: int, vocab: int = 30522) -> torch.Tensor:
    return torch.randint(5, vocab, (batch, length), device="cuda")


def masked(tokens: torch.Tensor, attend: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Flat positions to predict, a share of the real ones, and their tokens."""
    real = torch.arange(tokens.numel(), device="cuda") if attend is None else attend.flatten().nonzero()[:, 0]
    chosen = torch.randperm(len(real), device="cuda")[: int(SHARE * len(real))]
    places = real[chosen].sort().values
    return places, tokens.flatten()[places]


def as_labels(tokens: torch.Tensor, places: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The same targets as Hugging Face wants them: -100 where nothing is asked."""
    targets = torch.full((tokens.numel(),), -100, device="cuda")
    targets[places] = labels
    return targets.view_as(tokens)


def ours(name: str, tokens: torch.Tensor, *, how: str, float8: bool = False, **fields: Any) -> Step:
    """Our encoder with its masked-token head; `how` is eager, layers (compiled one by one) or whole."""
    model = Encoder(preset(name).replace(**{"head": "mlm", "dropout": 0.0} | fields), device="cuda").train()
    fast.apply(model, float8=float8)
    places, labels = masked(tokens)

    def loss() -> torch.Tensor:
        return cross_entropy(model(tokens, predict_at=places, only_logits=True).logits.float(), labels)

    if how == "layers":
        fast.compile_layers(model, varied=False)
    return trainer(model, torch.compile(loss) if how == "whole" else loss)


def hugging_face(family: str, tokens: torch.Tensor, *, how: str, dropout: float = 0.0, **sizes: Any) -> Step:
    """Hugging Face's class for masked tokens, labels and loss as it computes them: at every position."""
    import transformers

    drops = dict.fromkeys(DROPOUTS[family], dropout)
    config = getattr(transformers, f"{family}Config")(attn_implementation=sizes.pop("attention", "sdpa"), **drops, **sizes)
    model = getattr(transformers, f"{family}ForMaskedLM")(config).cuda().train()
    targets = as_labels(tokens, *masked(tokens))

    def loss() -> torch.Tensor:
        found: torch.Tensor = model(tokens, labels=targets).loss
        return found

    if how == "layers":
        compile_their_layers(model)
    return trainer(model, torch.compile(loss) if how == "whole" else loss)


DROPOUTS = {
    "Bert": ("hidden_dropout_prob", "attention_probs_dropout_prob"),
    "ModernBert": ("embedding_dropout", "mlp_dropout", "attention_dropout"),
}


def compile_their_layers(model: torch.nn.Module) -> None:
    """Their layers one by one, as ours."""
    for module in model.modules():
        if type(module).__name__ in ("BertLayer", "ViTLayer", "ModernBertEncoderLayer"):
            module.compile()


def torch_encoder(tokens: torch.Tensor, *, everywhere: bool, dropout: float = 0.0) -> Step:
    """`nn.TransformerEncoder` of BERT-base size with tables and one output matrix, at every position or at the masked ones."""
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, dropout, "gelu", batch_first=True)
    parts = {"table": torch.nn.Embedding(30522, 768), "positions": torch.nn.Embedding(tokens.shape[1], 768)}
    parts |= {"stack": torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False), "out": torch.nn.Linear(768, 30522)}
    model = torch.nn.ModuleDict(parts).cuda().train()
    places, labels = masked(tokens)
    targets = as_labels(tokens, places, labels).flatten()

    def loss() -> torch.Tensor:
        x = model["stack"](model["table"](tokens) + model["positions"].weight).flatten(0, 1)
        if everywhere:
            return cross_entropy(model["out"](x).float(), targets)
        return cross_entropy(model["out"](x[places]).float(), labels)

    return trainer(model, torch.compile(loss))


def mixed_batches(rows: int, count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of texts of mixed lengths, padded to 512 as a loader without packing does; tokens, and True at real ones."""
    lengths = torch.tensor(mixed_lengths(rows * count)).view(count, rows)
    batches = []
    for row in lengths:
        attend = (torch.arange(512) < row[:, None]).cuda()
        batches.append((random_tokens(rows, 512) * attend, attend))
    return batches


def ours_mixed(batches: list[tuple[torch.Tensor, torch.Tensor]], **fields: Any) -> Step:
    """Ours on padded batches, from which it removes the padding."""
    model = Encoder(preset("bert-base").replace(**{"head": "mlm", "dropout": 0.0} | fields), device="cuda").train()
    fast.compile_layers(model)
    asked = [masked(*batch) for batch in batches]
    turn = iter(range(10**9))

    def loss() -> torch.Tensor:
        i = next(turn) % len(batches)
        places, labels = asked[i]
        return cross_entropy(model(*batches[i], predict_at=places, only_logits=True).logits.float(), labels)

    return trainer(model, loss)


def theirs_mixed(batches: list[tuple[torch.Tensor, torch.Tensor]], *, how: str) -> Step:
    import transformers

    config = transformers.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="sdpa")
    model = transformers.BertForMaskedLM(config).cuda().train()
    targets = [as_labels(tokens, *masked(tokens, attend)) for tokens, attend in batches]
    turn = iter(range(10**9))
    if how == "layers":
        compile_their_layers(model)

    def loss() -> torch.Tensor:
        i = next(turn) % len(batches)
        tokens, attend = batches[i]
        found: torch.Tensor = model(tokens, attention_mask=attend.long(), labels=targets[i]).loss
        return found

    return trainer(model, loss)


def images(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(batch, 3, 224, 224, device="cuda"), torch.randint(1000, (batch,), device="cuda")


def our_vit(batch: int, *, how: str, float8: bool = False) -> Step:
    model = Encoder(preset("vit-b16").replace(head="classify", classes=1000, dropout=0.0), device="cuda").train()
    fast.apply(model, float8=float8)
    pixels, labels = images(batch)

    def loss() -> torch.Tensor:
        return cross_entropy(model(pixels, only_logits=True).logits.float(), labels)

    if how == "layers":
        fast.compile_layers(model, varied=False)
    return trainer(model, torch.compile(loss) if how == "whole" else loss)


def their_vit(batch: int, *, how: str) -> Step:
    import transformers

    config = transformers.ViTConfig(num_labels=1000, attn_implementation="sdpa")
    model = transformers.ViTForImageClassification(config).cuda().train()
    pixels, labels = images(batch)

    def loss() -> torch.Tensor:
        return cross_entropy(model(pixel_values=pixels).logits.float(), labels)

    return trainer(model, torch.compile(loss) if how == "whole" else loss)


def held() -> int:
    """What this process holds in any case: cuBLAS keeps some 32 MiB for each thread that multiplied, however small the model."""
    torch.cuda.empty_cache()
    for dtype in (torch.bfloat16, torch.float32):
        small = torch.nn.Linear(64, 64, device="cuda", dtype=dtype)
        small(torch.ones(64, 64, device="cuda", dtype=dtype)).sum().backward()
    del small
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def beside_cost(said: int, before: int) -> dict[str, float]:
    """The peak of allocated memory above the initial amount, and the prediction of `gf.cost`."""
    found = torch.cuda.max_memory_allocated() - before
    return {"measured_gb": found / 1e9, "predicted_gb": said / 1e9, "ratio": said / found, "held_before_gb": before / 1e9}


def peak(name: str, *, train: bool, dtype: str, **fields: Any) -> dict[str, float]:
    """The peak memory of an eager step or pass, and the prediction of `gf.cost`."""
    before = held()
    batch, t = fields.pop("batch"), fields.pop("t")
    spec = preset(name).replace(dropout=0.0, **fields)
    half = torch.bfloat16 if dtype == "bfloat16" and not train else None
    encoder = fast.apply(Encoder(spec, device="cuda", dtype=half)).train(train)
    tokens = random_tokens(batch, t)

    def loss() -> torch.Tensor:
        return encoder(tokens).states.float().square().mean()

    if not train:
        with torch.inference_mode():
            for _ in range(2):
                encoder(tokens)
    else:
        optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4, fused=True)
        for _ in range(2):
            with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "bfloat16"):
                value = loss()
            value.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    said = gf.cost(spec, batch=batch, t=t, train=train, kernel="fused", dtype=dtype).memory
    return beside_cost(said.peak, before)


def peak_compiled(name: str, batch: int, t: int | None, *, float8: bool = False) -> dict[str, float]:
    """The same for whole steps with their layers compiled, as `glassformer train` does it: masked tokens, or images."""
    before = held()
    made = {"how": "layers", "float8": float8}
    step = our_vit(batch, **made) if t is None else ours(name, random_tokens(batch, t), **made)
    for _ in range(3):
        step()
    fields: dict[str, Any] = {"head": "classify", "classes": 1000} if t is None else {"head": "mlm", "masked": SHARE, "t": t}
    said = gf.cost(name, batch=batch, train=True, kernel="compiled", dtype="bfloat16", dropout=0.0, **fields).memory
    return beside_cost(said.peak, before)


def useful_flops(name: str, batch: int, length: int) -> int:
    """Matrix products of a training step, all that follows the last attention at the masked positions alone: the least that
    every row has to compute."""
    return gf.cost(name, head="mlm", batch=batch, t=length, train=True, kernel="fused", masked=SHARE).matrix_flops
