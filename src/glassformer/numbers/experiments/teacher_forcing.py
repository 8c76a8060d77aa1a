"""Teacher forcing: one pass over a target equals generating it step by step with a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments.experiment import CLEARLY, ROUNDING, Check, Experiment
from glassformer.numbers.experiments.setting import SENTENCE, ids_of, program_for, requested, words_of
from glassformer.numbers.run import constants, run
from glassformer.numbers.weights import random_weights
from glassformer.program import Program
from glassformer.program.axes import Array, Floats
from glassformer.spec import DecoderSpec, EncoderSpec, Seq2SeqSpec

BEGIN, TARGET = "[BEGIN]", "Tom got pied this summer"

_FIELDS: dict[str, Any] = {"d_model": 16, "heads": 2, "layers": 2, "position": "sinusoidal", "vocab": 12}
START = Seq2SeqSpec(**_FIELDS, decoder=DecoderSpec(**_FIELDS))
CHOSEN = {
    "vocab": "the sentences determine the number of words",
    "image": "the experiment reads words",
    "mels": "the experiment reads words",
    "batch": "there is one sentence",
    "t": "the sentence determines the number of tokens",
    "u": "the target determines the number of tokens",
    "next_token": "the experiment compares the logits of the next token",
}


@dataclass(frozen=True)
class Step:
    """One token of the target: the token read, the token to predict, and the difference between both computations."""

    read: str
    next: str
    probability: float  # of the next word
    cached: float  # largest difference of the logits: one pass against a step with the cache
    forgetful: float  # the same against a step without the keys and values of earlier tokens
    stored: int  # numbers in the cache after this step, without those of the source


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TeacherForcing(Experiment):
    """A target read at once, and token by token with a cache of keys and values."""

    name: ClassVar[str] = "teacher-forcing"
    claim: ClassVar[str] = (
        "In training a decoder reads the whole target at once, shifted by one token, and the causal mask makes each position "
        "predict its next token. This gives the same logits as generating it step by step, where each step computes one "
        "token and needs only the keys and values of earlier tokens."
    )
    source: tuple[str, ...]
    words: tuple[str, ...]  # the decoder input
    rows: tuple[Step, ...]
    memory: float  # the largest difference of the encoder's output between steps
    loss: float  # mean of −log p over the target: of one pass
    loss_by_step: float

    @property
    def checks(self) -> tuple[Check, ...]:
        _, *later = self.rows
        grown = np.diff([row.stored for row in self.rows])
        return (
            Check("one pass against step by step with a cache: logits", max(row.cached for row in self.rows), high=ROUNDING),
            Check("one pass against step by step with a cache: loss", abs(self.loss - self.loss_by_step), high=ROUNDING),
            Check("the encoder's output does not depend on the step", self.memory, 0, 0),
            Check("the cache grows by the same amount at each step", float(np.ptp(grown)), 0, 0),
            Check("without the cache the logits differ", min(row.forgetful for row in later), low=CLEARLY),
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "source": list(self.source),
            "words": list(self.words),
            "rows": [asdict(row) for row in self.rows],
            "loss": self.loss,
            "loss_by_step": self.loss_by_step,
        }


def teacher_forcing(*, text: str = SENTENCE, seed: int = 0, **fields: Any) -> TeacherForcing:
    """Read a target in one pass, and step by step with a cache; compare the logits."""
    source, target = words_of(text), TARGET.split()
    every = ids_of([*source, BEGIN, *target])
    spec = requested(START.replace(vocab=max(every) + 1), fields, chosen=CHOSEN).spec
    if not isinstance(spec, Seq2SeqSpec) or not spec.decoder.layers:
        raise GlassformerError("decoder.layers=0 has no keys and values to store. Give at least decoder.layers=1.")
    ids, read, wanted = np.array([every[: len(source)]]), every[len(source) : -1], every[len(source) + 1 :]
    program = program_for(spec, t=len(source), u=len(read))
    weights = random_weights(program, seed)
    whole = run(program, weights, {"tokens": ids, "target": [read]})
    cached, moved = _by_step(spec, weights, ids, read, keep=True)
    forgetful, _ = _by_step(spec, weights, ids, read, keep=False)
    size = _cached_numbers(program) // len(read)
    chances = [_log_softmax(logits) for logits in (whole.output[0], cached)]
    rows = [
        Step(
            word,
            target[place],
            float(np.exp(chances[0][place, wanted[place]])),
            float(np.abs(whole.output[0, place] - cached[place]).max()),
            float(np.abs(whole.output[0, place] - forgetful[place]).max()),
            size * (place + 1),
        )
        for place, word in enumerate([BEGIN, *target[:-1]])
    ]
    losses = [-float(np.mean([row[word] for row, word in zip(chance, wanted, strict=True)])) for chance in chances]
    return TeacherForcing(
        spec=spec,
        seed=seed,
        source=tuple(source),
        words=(BEGIN, *target[:-1]),
        rows=tuple(rows),
        memory=max(float(np.abs(states - whole[_memory(program)]).max()) for states in moved),
        loss=losses[0],
        loss_by_step=losses[1],
    )


def cached_steps(program: Program) -> list[str]:
    """The names of the cached steps: keys and values of the decoder's self-attention."""
    own = [step for step in program.steps if step.block.stack != "encoder" and step.block.kind == "attention"]
    return [step.name for step in own if step.role in ("key", "value")]


def _cached_numbers(program: Program) -> int:
    return sum(program.tensors[name].size for name in cached_steps(program))


def _by_step(
    spec: EncoderSpec, weights: dict[str, Array], ids: Array, read: list[int], *, keep: bool
) -> tuple[Floats, list[Floats]]:
    """The logits of each step, and the encoder's output in each. A step reads one token: the new one.

    The positions of earlier tokens also hold the new token, so that only their cached keys and values remain. Without `keep`,
    these are dropped as well.
    """
    cache: dict[str, Array] = {}
    logits, states = [], []
    for place, token in enumerate(read):
        program = program_for(spec, t=ids.shape[1], u=place + 1)
        inputs = {"tokens": ids, "target": np.array([[token] * (place + 1)])}
        values = _evaluated(program, {**constants(program, weights), **weights, **inputs}, cache if keep else {})
        logits.append(values[program.output.name][0, place])
        states.append(values[_memory(program)])
        cache = {name: values[name] for name in cached_steps(program)}
    return np.stack(logits), states


def _evaluated(program: Program, values: dict[str, Array], cache: Mapping[str, Array]) -> dict[str, Array]:
    """The values of all steps; cached steps keep their values for earlier tokens."""
    for step in program.steps:
        found = step.evaluate(values)
        if step.name in cache:
            along = [axis.name for axis in step.output.axes].index("s")
            earlier = cache[step.name]
            found = np.concatenate([earlier, np.take(found, [earlier.shape[along]], along)], along)
        values[step.name] = found
    return values


def _memory(program: Program) -> str:
    """The name of the encoder's output."""
    return next(step.name for step in reversed(program.steps) if step.block.stack == "encoder")


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))
