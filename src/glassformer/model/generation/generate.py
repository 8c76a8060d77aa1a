"""Continuing or translating token ids: prompts or sources of any length, in batches of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.errors import GlassformerError
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.boundary.seq2seq import Seq2Seq
from glassformer.model.generation.beams import beam_search
from glassformer.model.generation.choosing import Draws
from glassformer.model.generation.decoding import Decoding
from glassformer.model.generation.search import Found, Steps, one_by_one
from glassformer.model.generation.settings import Choice
from glassformer.model.generation.source_decoding import SourceDecoding
from glassformer.model.generation.steady import SteadySearch
from glassformer.spec import EncoderSpec


class AtOnce(NamedTuple):
    """Limits of one batch: the total number of beams, and tokens of its prompts."""

    rows: int
    tokens: int


ON_CPU, ON_GPU = AtOnce(64, 8192), AtOnce(4096, 131_072)
ROOM = 1 / 4  # of a GPU's memory, for keys and values


def continued(
    model: Encoder, prompts: Sequence[Sequence[int]], choice: Choice, tokens: Tokens, *, name: Callable[[int], str]
) -> Iterator[tuple[list[int], list[Found]]]:
    """Yield the indices of some prompts and their continuations, batch by batch, long prompts first."""
    check_choice(model.spec, choice)
    for number, prompt in enumerate(prompts):
        check_prompt(model.spec, prompt, choice, name(number))
    lengths = [len(prompt) for prompt in prompts]
    for numbers in batches(lengths, choice.beams, at_once(model, max(lengths, default=0) + choice.max_new_tokens)):
        yield numbers, continue_batch(model, [prompts[number] for number in numbers], choice, tokens, numbers)


@torch.inference_mode()
def continue_batch(
    model: Encoder, prompts: Sequence[Sequence[int]], choice: Choice, tokens: Tokens, numbers: Sequence[int]
) -> list[Found]:
    """The continuation of each prompt."""
    device = model.here.device
    lengths = [len(prompt) for prompt in prompts]
    rows = [[*prompt, *[0] * (max(lengths) - len(prompt))] for prompt in prompts]
    steps = Decoding(model)
    logits_BV = steps.begin(torch.tensor(rows, device=device), torch.tensor(lengths, device=device))
    return searched(steps, logits_BV, choice, tokens, numbers)


def translated(
    model: Seq2Seq,
    sources: Sequence[Sequence[int]],
    choice: Choice,
    tokens: Tokens,
    *,
    name: Callable[[int], str],
    steady: SteadySearch | None = None,
) -> Iterator[tuple[list[int], list[Found]]]:
    """The numbers of some sources and what was found for them, batch by batch, long sources first; `steady` has done others."""
    check_choice(model.spec.decoder, choice)
    check_target(model.spec.decoder, choice)
    for number, source in enumerate(sources):
        check_source(model.spec.encoder, source, name(number))
    lengths = [len(source) for source in sources]
    for numbers in batches(lengths, choice.beams, at_once(model, max(lengths, default=0) + choice.max_new_tokens)):
        some = [sources[number] for number in numbers]
        yield numbers, translate_batch(model, some, choice, tokens, numbers) if steady is None else steady.translate(some)


@torch.inference_mode()
def translate_batch(
    model: Seq2Seq, sources: Sequence[Sequence[int]], choice: Choice, tokens: Tokens, numbers: Sequence[int]
) -> list[Found]:
    """The translation of each source."""
    device = model.here.device
    lengths = torch.tensor([len(source) for source in sources], device=device)
    longest = int(lengths.max())
    rows = torch.tensor([[*source, *[0] * (longest - len(source))] for source in sources], device=device)
    attend = torch.arange(longest, device=device) < lengths[:, None]
    steps = SourceDecoding(model, choice.beams)
    logits_BV = steps.read(rows, None if bool(attend.all()) else attend, tokens.start[0])
    return searched(steps, logits_BV, choice, tokens, numbers)


def searched(steps: Steps, logits_BV: Tensor, choice: Choice, tokens: Tokens, numbers: Sequence[int]) -> list[Found]:
    """The continuation of each row, by the requested method."""
    if choice.beams > 1:
        return beam_search(steps, logits_BV, choice, tokens)
    draws = Draws(choice.seed, list(numbers), choice.max_new_tokens) if choice.samples else None
    return one_by_one(steps, logits_BV, choice, tokens, draws)


def at_once(model: Encoder | Seq2Seq, longest: int) -> AtOnce:
    """The limits of one batch; on a GPU, as many rows of `longest` tokens as fit into memory with their keys and values."""
    if not model.here.is_cuda:
        return ON_CPU
    spec = model.spec.decoder if isinstance(model, Seq2Seq) else model.spec
    a_token = spec.layers * spec.key_heads * (spec.head_k + spec.head_v) * model.here.element_size()
    room = int(ROOM * torch.cuda.get_device_properties(model.here.device).total_memory)
    return ON_GPU._replace(rows=max(1, min(ON_GPU.rows, room // (2 * a_token * longest))))  # twice: `Layer.spare`


def batches(lengths: Sequence[int], beams: int, most: AtOnce) -> Iterator[list[int]]:
    """Indices of prompts that form a batch: of similar length, long ones first."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and (len(batch) >= max(most.rows // beams, 1) or lengths[batch[0]] * (len(batch) + 1) > most.tokens):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def check_choice(spec: EncoderSpec, choice: Choice) -> None:
    """Refuse a search that is wider than the vocabulary."""
    if choice.beams > (spec.vocab or 0):
        raise GlassformerError(f"beams={choice.beams} is wider than the vocabulary: it has {spec.vocab} tokens. Use fewer beams.")


def check_prompt(spec: EncoderSpec, prompt: Sequence[int], choice: Choice, name: str) -> None:
    """Refuse a prompt without tokens, with unknown ones, or with no room for new ones."""
    if not prompt:
        raise GlassformerError(f"{name} has no tokens: there is nothing to continue. Give at least one word.")
    check_known(spec, prompt, name)
    longest = spec.longest
    if longest is not None and len(prompt) + choice.max_new_tokens > longest:
        room = longest - len(prompt)
        way = f"Use max_new_tokens={room} or less" if room > 0 else "Shorten the text"
        raise GlassformerError(
            f"{name} has {len(prompt):,} tokens, and {choice.max_new_tokens:,} new ones do not fit: the model has "
            f"positions={longest:,}. {way}."
        )


def check_source(spec: EncoderSpec, source: Sequence[int], name: str) -> None:
    """Refuse a source without tokens, with unknown ones, or with more than the encoder reads."""
    if not source:
        raise GlassformerError(f"{name} has no tokens: there is nothing to translate. Give at least one word.")
    check_known(spec, source, name)
    if spec.longest is not None and len(source) > spec.longest:
        raise GlassformerError(
            f"{name} has {len(source):,} tokens, and the encoder has positions={spec.longest:,}: it reads no longer source. "
            "Split the text."
        )


def check_known(spec: EncoderSpec, tokens: Sequence[int], name: str) -> None:
    """Refuse tokens that the vocabulary lacks."""
    wrong = next((token for token in tokens if not 0 <= token < (spec.vocab or 0)), None)
    if wrong is not None:
        raise GlassformerError(f"{name}: token {wrong} is out of range: the vocabulary has {spec.vocab} entries.")


def check_target(spec: EncoderSpec, choice: Choice) -> None:
    """Refuse a target that may be longer than the decoder reads."""
    if spec.longest is not None and choice.max_new_tokens >= spec.longest:
        raise GlassformerError(
            f"max_new_tokens={choice.max_new_tokens:,} does not fit: the decoder has positions={spec.longest:,}, one of them for "
            f"the token that begins a target. Use max_new_tokens={spec.longest - 1} or less."
        )
