"""Continuing token ids: prompts of any lengths go through the model in batches of like length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from glassformer.errors import GlassformerError
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.generation.beams import beam_search
from glassformer.model.generation.choosing import Draws
from glassformer.model.generation.decoding import Decoding
from glassformer.model.generation.search import Found, one_by_one
from glassformer.model.generation.settings import Choice, Tokens
from glassformer.spec import EncoderSpec

ROWS_AT_ONCE = 64  # beams of all texts together
TOKENS_AT_ONCE = 8192  # of the prompts of one batch


def continued(
    model: Encoder, prompts: Sequence[Sequence[int]], choice: Choice, tokens: Tokens, *, name: Callable[[int], str]
) -> Iterator[tuple[list[int], list[Found]]]:
    """The numbers of some prompts and what was found for them, batch by batch, long prompts first."""
    check_choice(model.spec, choice)
    for number, prompt in enumerate(prompts):
        check_prompt(model.spec, prompt, choice, name(number))
    for numbers in batches([len(prompt) for prompt in prompts], choice.beams):
        yield numbers, continue_batch(model, [prompts[number] for number in numbers], choice, tokens, numbers)


@torch.inference_mode()
def continue_batch(
    model: Encoder, prompts: Sequence[Sequence[int]], choice: Choice, tokens: Tokens, numbers: Sequence[int]
) -> list[Found]:
    """What follows each prompt."""
    device = model.here.device
    lengths = [len(prompt) for prompt in prompts]
    rows = [[*prompt, *[0] * (max(lengths) - len(prompt))] for prompt in prompts]
    steps = Decoding(model)
    logits_BV = steps.begin(torch.tensor(rows, device=device), torch.tensor(lengths, device=device))
    if choice.beams > 1:
        return beam_search(steps, logits_BV, choice, tokens)
    draws = Draws(choice.seed, list(numbers), choice.max_new_tokens) if choice.samples else None
    return one_by_one(steps, logits_BV, choice, tokens, draws)


def batches(lengths: Sequence[int], beams: int) -> Iterator[list[int]]:
    """Numbers of prompts that go together: of like length, long ones first."""
    batch: list[int] = []
    most = max(ROWS_AT_ONCE // beams, 1)
    for number in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and (len(batch) >= most or lengths[batch[0]] * (len(batch) + 1) > TOKENS_AT_ONCE):
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
    wrong = next((token for token in prompt if not 0 <= token < (spec.vocab or 0)), None)
    if wrong is not None:
        raise GlassformerError(f"{name}: token {wrong} is out of range: the vocabulary has {spec.vocab} entries.")
    longest = spec.longest
    if longest is not None and len(prompt) + choice.max_new_tokens > longest:
        room = longest - len(prompt)
        way = f"Use max_new_tokens={room} or less" if room > 0 else "Shorten the text"
        raise GlassformerError(
            f"{name} has {len(prompt):,} tokens, and {choice.max_new_tokens:,} new ones do not fit: the model has "
            f"positions={longest:,}. {way}."
        )
