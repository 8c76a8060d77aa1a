"""Training and encoding speed on a GPU beside what people use today, in one run: tokens a second, medians with spread."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from glassformer.model import Encoder, encode_packed
from glassformer.spec.presets import preset

LENGTH, SHARE = 512, 0.15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    figures: dict[str, Any] = {
        "machine": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "training": {},
        "encoding": {},
    }
    tokens = torch.randint(5, 30522, (chosen.batch, LENGTH), device="cuda")
    for name, make in TRAINERS.items():
        step = make(tokens)
        figures["training"][name] = measured(step, chosen.steps, tokens.numel(), name)
        del step
        torch.cuda.empty_cache()
    texts = [torch.randint(5, 30522, (length,)) for length in mixed_lengths()]
    real = sum(len(ids) for ids in texts)
    for name, make_encoder in ENCODERS.items():
        run = make_encoder(texts)
        figures["encoding"][name] = measured(run, 3, real, name)
        del run
        torch.cuda.empty_cache()
    if chosen.out:
        chosen.out.write_text(json.dumps(figures, indent=1))


def measured(step: Callable[[], Any], steps: int, tokens: int, name: str) -> dict[str, float]:
    """Thousand tokens a second: the median step, the slowest and the fastest."""
    torch.cuda.reset_peak_memory_stats()
    for _ in range(5):
        step()
    seconds = []
    for _ in range(steps):
        torch.cuda.synchronize()
        began = time.perf_counter()
        step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    rates = {word: tokens / value / 1000 for word, value in (("median", statistics.median(seconds)), ("slowest", max(seconds)))}
    rates["fastest"] = tokens / min(seconds) / 1000
    rates["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    print(f"{name:44} {rates['median']:9.0f} thousand tokens/s  peak {rates['peak_gb']:.1f} GB", flush=True)
    return rates


def masked(tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Flat positions to predict, as many in every batch, and what stands there."""
    generator = torch.Generator(device="cuda").manual_seed(0)
    count = int(SHARE * tokens.numel())
    places = torch.randperm(tokens.numel(), generator=generator, device="cuda")[:count].sort().values
    return places, tokens.flatten()[places]


def trainer(model: torch.nn.Module, loss: Callable[[], torch.Tensor]) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        with torch.autocast("cuda", torch.bfloat16):
            value = loss()
        value.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def ours(*, dropout: float, compiled: bool) -> Callable[[torch.Tensor], Callable[[], None]]:
    def make(tokens: torch.Tensor) -> Callable[[], None]:
        model = Encoder(preset("bert-base").replace(head="mlm", dropout=dropout), device="cuda").train()
        places, labels = masked(tokens)

        def loss() -> torch.Tensor:
            return cross_entropy(model(tokens, predict_at=places).logits.float(), labels)

        return trainer(model, torch.compile(loss) if compiled else loss)

    return make


def hugging_face(*, compiled: bool) -> Callable[[torch.Tensor], Callable[[], None]]:
    def make(tokens: torch.Tensor) -> Callable[[], None]:
        from transformers import BertConfig, BertForMaskedLM

        config = BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="sdpa")
        model = BertForMaskedLM(config).cuda().train()
        places, labels = masked(tokens)
        targets = torch.full((tokens.numel(),), -100, device="cuda")
        targets[places] = labels
        targets = targets.view_as(tokens)

        def loss() -> torch.Tensor:
            found: torch.Tensor = model(tokens, labels=targets).loss
            return found

        return trainer(model, torch.compile(loss) if compiled else loss)

    return make


def torch_encoder(*, compiled: bool) -> Callable[[torch.Tensor], Callable[[], None]]:
    def make(tokens: torch.Tensor) -> Callable[[], None]:
        layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
        parts = {"table": torch.nn.Embedding(30522, 768), "positions": torch.nn.Embedding(LENGTH, 768)}
        parts |= {"stack": torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False), "out": torch.nn.Linear(768, 30522)}
        model = torch.nn.ModuleDict(parts).cuda().train()
        places, labels = masked(tokens)

        def loss() -> torch.Tensor:
            x = model["stack"](model["table"](tokens) + model["positions"].weight)
            return cross_entropy(model["out"](x.flatten(0, 1)[places]).float(), labels)

        return trainer(model, torch.compile(loss) if compiled else loss)

    return make


def mixed_lengths() -> list[int]:
    """4,096 lengths between 8 and 512 with a mean near 112, as texts have them."""
    generator = torch.Generator().manual_seed(1)
    spread = torch.randn(4096, generator=generator) * 0.85 + 4.4
    return [int(length) for length in spread.exp().clamp(8, 512)]


def packed_encoder(texts: list[torch.Tensor]) -> Callable[[], Any]:
    model = Encoder(preset("bert-base"), device="cuda", dtype=torch.bfloat16).eval()
    return torch.inference_mode()(lambda: encode_packed(model, texts))


def hugging_face_encoder(*, batch: int, by_length: bool) -> Callable[[list[torch.Tensor]], Callable[[], Any]]:
    def make(texts: list[torch.Tensor]) -> Callable[[], Any]:
        from transformers import BertConfig, BertModel

        model = BertModel(BertConfig(attn_implementation="sdpa")).cuda().bfloat16().eval()
        ordered = sorted(texts, key=len) if by_length else texts

        def run() -> None:
            for start in range(0, len(ordered), batch):
                rows = ordered[start : start + batch]
                ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).cuda()
                lengths = torch.tensor([len(row) for row in rows])
                mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).cuda()
                model(input_ids=ids, attention_mask=mask)

        return torch.inference_mode()(run)

    return make


TRAINERS = {
    "Hugging Face BERT, sdpa, eager": hugging_face(compiled=False),
    "Hugging Face BERT, sdpa, compiled": hugging_face(compiled=True),
    "nn.TransformerEncoder, compiled": torch_encoder(compiled=True),
    "glassformer, eager": ours(dropout=0.0, compiled=False),
    "glassformer, compiled": ours(dropout=0.0, compiled=True),
    "glassformer, compiled, dropout 0.1": ours(dropout=0.1, compiled=True),
}
ENCODERS = {
    "Hugging Face BERT, batches of 64 unsorted": hugging_face_encoder(batch=64, by_length=False),
    "Hugging Face BERT, batches of 256 sorted": hugging_face_encoder(batch=256, by_length=True),
    "glassformer, packed": packed_encoder,
}

if __name__ == "__main__":
    main()
