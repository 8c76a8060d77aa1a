"""Outputs of an implementation for one input, layer by layer, for comparing two implementations; and our own outputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.errors import GlassformerError
from glassformer.files.texts import cut_into_tokens, load_tokenizer
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.boundary.seq2seq import Seq2Seq
from glassformer.model.core import Padded
from glassformer.model.heads import pool
from glassformer.spec import EncoderSpec, Seq2SeqSpec

TEXTS = (
    "A glass wall hides nothing: every number behind it can be seen, and every one of them adds up.",
    "Time flies like an arrow.",
)
LENGTH, SHORT = 13, 8  # tokens of the generated rows, if there is no tokenizer
TARGET = 6  # tokens of the targets of an encoder-decoder

Array = NDArray[Any]


class Answer(NamedTuple):
    """The input of the first layer, the output of each layer, and the final outputs, by name."""

    hidden: tuple[Array, ...]
    outputs: dict[str, Array]  # states, pooled, logits, next


class Given(NamedTuple):
    """One input, by the names of the program, and a description of it."""

    parts: dict[str, Array]
    words: str

    @property
    def real(self) -> Array | None:
        """True at real tokens; None if all tokens are real."""
        return self.parts.get("attend")


@torch.inference_mode()
def our_answer(encoder: Encoder | Seq2Seq, given: Mapping[str, Array]) -> Answer:
    """Our model's outputs; for an encoder-decoder, those of its decoder and the encoder's states."""
    spec, here = encoder.spec, encoder.here
    inputs = torch.as_tensor(given[spec.reads])
    inputs = inputs if spec.reads == "tokens" else inputs.to(here.dtype)
    if isinstance(encoder, Seq2Seq):
        attend = torch.as_tensor(given["attend"]) if "attend" in given else None
        both = encoder(inputs, torch.as_tensor(given["target"]), attend, return_hidden=True)
        outputs = {"source": both.source.states, "states": both.states, "logits": both.logits}
        named = {name: _array(value) for name, value in outputs.items() if value is not None}
        return Answer(tuple(_array(state) for state in both.hidden), named)
    beside = {name: torch.as_tensor(given[name]).to(here.device) for name in ("attend", "segments", "boxes") if name in given}
    output = encoder(inputs.to(here.device), **beside, return_hidden=True)
    pooled = output.pooled
    if pooled is None and spec.head == "none":  # by the spec, since no part of the model does it
        pooled = pool(output.states, Padded(beside.get("attend")), spec, spec.pool)
    found = {"states": output.states, "pooled": pooled, "logits": output.logits, "next": output.next_logits}
    return Answer(
        tuple(_array(state) for state in output.hidden),
        {name: _array(value) for name, value in found.items() if value is not None},
    )


def _array(tensor: torch.Tensor) -> Array:
    array: Array = tensor.double().cpu().numpy()
    return array


def example(folder: CheckpointFolder, *, seed: int = 0) -> Given:
    """An input for a model: two texts if the folder has a tokenizer, seeded random numbers otherwise."""
    spec = folder.spec
    if isinstance(spec, Seq2SeqSpec):
        read = example(folder._replace(spec=spec.encoder), seed=seed)
        target = np.random.default_rng(seed).integers(
            0, spec.decoder.vocab or 1, (2, min(TARGET, spec.decoder.longest or TARGET))
        )
        return Given({**read.parts, "target": target}, f"{read.words}, and two targets of random tokens")
    rng = np.random.default_rng(seed)
    if spec.reads == "image":
        image = rng.normal(size=(2, *spec.picture_shape))
        what = "images" if spec.video_frames is None else "videos"
        return Given({"image": image}, f"two {what} of normal numbers (seed {seed})")
    if spec.reads == "frames":
        frames = rng.normal(size=(2, spec.mels or 0, spec.frames))
        words = f"two sounds of normal numbers (seed {seed})"
        return Given({"frames": frames, **_shorter(spec)}, words + (", the second padded" if _shorter(spec) else ""))
    if spec.reads == "vectors":
        return Given({"vectors": rng.normal(size=(2, LENGTH, spec.d_model))}, f"two rows of normal vectors (seed {seed})")
    rows = _texts(folder)
    words = f'the texts "{TEXTS[0]}" and "{TEXTS[1]}"' if rows else f"two rows of random tokens (seed {seed})"
    return Given(_padded(folder, rows or _made_up(folder, rng)), words)


def _shorter(spec: EncoderSpec) -> dict[str, Array]:
    """The second of two raw sounds is shorter, if the model allows it."""
    length = spec.longest or 1
    if not spec.raw_sound or length < 2:
        return {}
    return {"attend": np.arange(length) < np.array([[length], [length - length // 3 - 1]])}


def _texts(folder: CheckpointFolder) -> list[list[int]]:
    """The example texts as ids; None if the folder's tokenizer cannot be used."""
    try:
        tokenizer = load_tokenizer(Path(folder.path))
        most = min(folder.spec.longest or 64, 64)
        rows = [list(cut_into_tokens(tokenizer, text, "the example", most=most).ids) for text in TEXTS]
    except GlassformerError:
        return []
    return rows if all(rows) and max(map(max, rows)) < (folder.spec.vocab or 0) else []


def _made_up(folder: CheckpointFolder, rng: np.random.Generator) -> list[list[int]]:
    """Random ids without special tokens, which some models treat differently: RoBERTa counts padding, CLIP stops at the end."""
    ends = folder.aside.get("eos_token_id")
    vocab = folder.spec.vocab or 0
    special = {value for key, value in folder.aside.items() if key.endswith("_token_id") and isinstance(value, int)}
    usual = [token for token in range(min(vocab, 10_000)) if token not in special] or [0]
    longest = min(LENGTH, folder.spec.longest or LENGTH)
    rows = [[int(token) for token in rng.choice(usual, size)] for size in (longest, min(SHORT, longest))]
    if isinstance(ends, int) and 0 <= ends < vocab:
        for row in rows:
            row[-1] = ends
    return rows


def _padded(folder: CheckpointFolder, rows: list[list[int]]) -> dict[str, Array]:
    width = max(map(len, rows))
    tokens = np.array([row + [folder.padding] * (width - len(row)) for row in rows])
    attend = np.array([[True] * len(row) + [False] * (width - len(row)) for row in rows])
    return {"tokens": tokens, **_boxes(folder.spec, tokens.shape)} | ({} if attend.all() else {"attend": attend})


def _boxes(spec: EncoderSpec, shape: tuple[int, ...]) -> dict[str, Array]:
    """Places on a page for the tokens of a model that reads them: each further right and further down."""
    if spec.page is None:
        return {}
    sides = np.linspace(0, spec.page - 1, num=shape[1] + 4, dtype=int)
    boxes = np.stack([sides[:-4], sides[1:-3], sides[3:-1], sides[4:]], axis=-1)
    return {"boxes": np.broadcast_to(boxes, (*shape, 4)).copy()}
