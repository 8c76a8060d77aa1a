"""Encoding with our encoder and Hugging Face's: ids of mixed lengths, strings, one short text."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measuring import mixed_lengths, real_texts, seconds_of

import glassformer as gf
from glassformer.configs.presets import preset
from glassformer.model import Encoder, LoadedModel, encode_packed, fast, load
from glassformer.model.sentences import streams
from glassformer.training.tokenizers import Tokenizer


def sequences() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    return [torch.randint(5, 30522, (length,), generator=generator) for length in mixed_lengths()]


def packed(texts: list[torch.Tensor], *, compiled: bool) -> Callable[[], Any]:
    model = fast.apply(Encoder(preset("bert-base"), device="cuda", dtype=torch.bfloat16)).eval()
    if compiled:
        fast.compile_layers(model)
    return torch.inference_mode()(lambda: encode_packed(model, texts))


def hugging_face(texts: list[torch.Tensor], *, batch: int, by_length: bool, compiled: bool = False) -> Callable[[], Any]:
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(attn_implementation="sdpa")).cuda().bfloat16().eval()
    called = torch.compile(model, dynamic=True) if compiled else model
    ordered = sorted(texts, key=len) if by_length else texts

    def run() -> None:
        for start in range(0, len(ordered), batch):
            rows = ordered[start : start + batch]
            ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).cuda()
            lengths = torch.tensor([len(row) for row in rows])
            mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).cuda()
            called(input_ids=ids, attention_mask=mask)

    return torch.inference_mode()(run)


def strings(count: int) -> dict[str, float]:
    """The rate from strings and the rate from their ids, through the public `encode`."""
    written = real_texts("topic", "sentiment", "mlm", split="train")
    generator = torch.Generator().manual_seed(3)
    chosen = torch.randint(len(written), (count, 8), generator=generator).tolist()
    wanted = mixed_lengths(count)
    texts = [joined([written[i] for i in some], int(0.7 * most)) for some, most in zip(chosen, wanted, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        model = a_checkpoint(Path(folder) / "model", written)
        windows = list(model.windows(texts, truncate=True))
        tokens = sum(len(ids) for window in windows for ids in window.ids)
        ready = model.ready("states")

        def from_ids() -> list[Any]:
            pending = [streams.embed(ready, window, "mean", normalise=True) for window in windows]
            return [vectors.cpu() for vectors in pending]

        ids = statistics.median(seconds_of(from_ids, 5))
        whole = statistics.median(seconds_of(lambda: model.encode(texts, pool="mean", truncate=True), 5))
    return {"tokens": tokens, "from_ids": tokens / ids / 1000, "from_strings": tokens / whole / 1000, "share": ids / whole}


def joined(some: list[str], words: int) -> str:
    return " ".join(" ".join(some).split()[: max(words, 4)])


def a_checkpoint(folder: Path, texts: list[str]) -> LoadedModel:
    """BERT-base with random weights and a new tokenizer, saved and loaded like any checkpoint."""
    tokenizer = Tokenizer.train(texts[:20_000], vocab=30522)
    gf.save(Encoder(preset("bert-base")), folder)
    (folder / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
    return load(folder, dtype=torch.bfloat16, device="cuda")


def latency_ours(length: int) -> dict[str, float]:
    from glassformer.model.core import Padded
    from glassformer.model.encoder import Inputs

    ids = torch.randint(5, 30522, (1, length))
    encoder = Encoder(preset("bert-base").replace(pooler="none"), device="cuda", dtype=torch.bfloat16)
    ready = fast.Inference(fast.apply(encoder).eval())

    @torch.inference_mode()
    def answer() -> torch.Tensor:
        return ready.run(Inputs(ids.cuda()), Padded()).states.mean(1).float().cpu()

    found = milliseconds(answer)
    with torch.inference_mode():
        plain = encoder.run(Inputs(ids.cuda())).states.mean(1).float().cpu()
    return found | {"difference": float((answer() - plain).abs().max())}


def latency_theirs(length: int, *, mode: str | None) -> dict[str, float]:
    from transformers import BertConfig, BertModel

    ids = torch.randint(5, 30522, (1, length))
    model = BertModel(BertConfig(attn_implementation="sdpa"), add_pooling_layer=False).cuda().bfloat16().eval()
    called = torch.compile(model, mode=mode) if mode is not None else model

    @torch.inference_mode()
    def answer() -> torch.Tensor:
        return called(input_ids=ids.cuda()).last_hidden_state.mean(1).float().cpu()

    return milliseconds(answer)


def milliseconds(answer: Callable[[], Any]) -> dict[str, float]:
    times = [1000 * second for second in seconds_of(answer, 200, 20)]
    return {"median_ms": statistics.median(times), "slowest_ms": max(times), "fastest_ms": min(times)}
