"""How a run is trained: one flat, frozen record, whose docs are the options of the command line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.texts import Context

Decay = Literal["cosine", "linear", "none"]
Precision = Literal["auto", "fp32", "bf16", "fp8"]
Compile = Literal["auto", "yes", "no"]
Augment = Literal["none", "shift", "hide"]
EqualBits = Literal["yes", "no"]
Case = Literal["keep", "lower"]
TrainOnly = Literal["all", "head"]
Parallel = Literal["ddp", "fsdp"]

# What may be changed when a run is resumed; with any other setting the steps already taken would have been others.
FREE = ("epochs", "lr", "clip", "patience", "parallel", "keep", "save_every", "log_every")


def _is(default: Any, doc: str, least: float = 0, most: float = 10**9) -> Any:
    return field(default=default, metadata={"doc": doc, "least": least, "most": most})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides how an encoder learns, apart from the encoder and the data."""

    epochs: int = _is(10, "passes over the training rows", least=1)
    batch_size: int = _is(32, "rows a batch, over all processes", least=1)
    accumulate: int = _is(1, "batches whose gradients make one step", least=1)
    lr: float = _is(1e-3, "the largest learning rate")
    warmup: float = _is(0.1, "share of the steps over which the rate rises", most=1)
    decay: Decay = _is("cosine", "how the rate falls afterwards")  # noqa: RUF009
    weight_decay: float = _is(0.01, "AdamW's pull of matrices towards 0; biases and norms are left alone")
    clip: float | None = _is(1.0, "the longest gradient; none: as it comes", least=1e-9)
    train_only: TrainOnly = _is("all", "all weights, or the head alone on a checkpoint that stays as it is")  # noqa: RUF009
    precision: Precision = _is("auto", "number format of the matrix products; auto: bf16 on a GPU; fp8: on an H100 or newer")  # noqa: RUF009
    compile: Compile = _is("auto", "torch.compile; auto: on a GPU, where the run is long enough to win back its start")  # noqa: RUF009
    threads: int | None = _is(None, "threads of a CPU; none: as many as a step has work for", least=1, most=1024)
    parallel: Parallel = _is("ddp", "several processes, each with a whole copy (ddp) or a part of the weights (fsdp)")  # noqa: RUF009
    patience: int | None = _is(None, "stop after so many epochs without a better validation; none: never", least=1)
    seed: int = _is(0, "which weights, dropout, order and masks", most=2**62)
    equal_bits: EqualBits = _is("yes", "equal runs give equal bits; no: faster kernels of a GPU, in any order")  # noqa: RUF009
    vocab: int = _is(8000, "tokens of the tokenizer that is trained on the texts", least=8)
    case: Case = _is("keep", "whether that tokenizer tells capitals from small letters")  # noqa: RUF009
    max_length: int = _is(128, "the longest text in tokens", least=3, most=10**6)
    augment: Augment = _is("none", "shift: images move by up to a tenth; hide: some tokens are hidden")  # noqa: RUF009
    hidden: float = _is(0.2, "share of the tokens that augment=hide hides, others in each epoch", most=0.95)
    context: Context = _is("row", "what a tagged word is read with: its row, or nothing but itself (word)")  # noqa: RUF009
    keep: int = _is(2, "checkpoints kept, beside the best", least=2, most=1000)
    save_every: int | None = _is(None, "steps between checkpoints within an epoch; none: one after each epoch", least=1)
    log_every: int = _is(10, "steps between lines of the log", least=1)

    def __post_init__(self) -> None:
        for name, rule in setting_rules().items():
            rule.check(name, getattr(self, name))

    def replace(self, **settings: Any) -> Settings:
        """The same settings with some changed."""
        return dataclasses.replace(self, **settings)

    def to_dict(self) -> dict[str, Any]:
        """All of them, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Settings:
        """Settings from a parsed file; an unknown one is named."""
        for name in document:
            if name not in setting_rules():
                raise GlassformerError(f"unknown setting '{shown(name)}'.{nearest(name, setting_rules())}")
        return cls(**document)


@dataclass(frozen=True)
class Rule:
    """What one setting may hold."""

    kind: type  # int, float or str
    choices: tuple[str, ...]
    optional: bool
    default: Any
    doc: str
    least: float
    most: float

    def check(self, name: str, value: Any) -> None:
        """Refuse what is not allowed, with the rule."""
        if not (value is None and self.optional) and not self._allows(value):
            near = nearest(value, self.choices) if isinstance(value, str) else ""
            raise GlassformerError(f"{name}={shown(value)} is not allowed: {self.words()}.{near}")

    def words(self) -> str:
        """The rule in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        kind = "a whole number" if self.kind is int else "a number"
        upper = "" if self.kind is int and self.most == 10**9 else f" to {self.most:,}"
        return f"{kind} from {self.least:g}{upper}" + (", or none" if self.optional else "")

    def _allows(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        fits = isinstance(value, int if self.kind is int else int | float) and not isinstance(value, bool)
        return fits and self.least <= value <= self.most  # neither NaN nor infinity does


@lru_cache(maxsize=1)
def setting_rules() -> dict[str, Rule]:
    """Setting -> rule, read off the types and docs of `Settings`."""
    hints = get_type_hints(Settings)
    return {item.name: _rule(hints[item.name], item) for item in dataclasses.fields(Settings)}


def _rule(hint: Any, item: dataclasses.Field[Any]) -> Rule:
    if get_origin(hint) is Literal:
        return Rule(str, get_args(hint), optional=False, default=item.default, **item.metadata)
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not NoneType]
    return Rule(kinds[0], (), optional=NoneType in get_args(hint), default=item.default, **item.metadata)
