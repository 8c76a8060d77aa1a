"""Training settings: one flat, frozen dataclass whose docs are the help of the command-line options."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from glassformer.arguments import as_list, in_order, is_whole
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.files.texts import Context

Decay = Literal["cosine", "linear", "none"]
Precision = Literal["auto", "fp32", "bf16", "fp8"]
Compile = Literal["auto", "yes", "no"]
Augment = Literal["none", "shift", "hide"]
Checkpointing = Literal["yes", "no"]
EqualBits = Literal["yes", "no"]
Case = Literal["keep", "lower"]
TrainOnly = Literal["all", "head"]
ClassWeights = Literal["none", "balanced"]
Parallel = Literal["ddp", "fsdp"]

NAMES = re.compile(r"[\w.,\- ]{1,400}")

# Settings that may be changed on resume; changing any other would invalidate the steps already taken.
FREE = ("epochs", "lr", "clip", "patience", "parallel", "keep", "save_every", "log_every")


# Words of `lora_on`, and the symbols of the matrices that they mean; `all-linear` is peft's word.
ADAPTED: dict[str, tuple[str, ...]] = {
    "query": ("W_Q",),
    "key": ("W_K",),
    "value": ("W_V",),
    "output": ("W_O",),
    "ffn": ("W_1", "W_2", "W_3"),
    "all-linear": ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_3"),
}


def _is(default: Any, doc: str, least: float = 0, most: float = 10**9, among: Sequence[str] = ()) -> Any:
    return field(default=default, metadata={"doc": doc, "least": least, "most": most, "among": tuple(among)})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All training settings; the encoder and the data are given separately."""

    epochs: int = _is(10, "number of epochs", least=1)
    batch_size: int = _is(32, "rows per batch, summed over all processes", least=1)
    batch_tokens: int | None = _is(None, "tokens per batch, padding included, instead of a number of rows", least=1)
    accumulate: int = _is(1, "batches to accumulate gradients over before each step", least=1)
    lr: float = _is(1e-3, "peak learning rate")
    warmup: float = _is(0.1, "share of the steps used for learning-rate warmup", most=1)
    decay: Decay = _is("cosine", "learning-rate decay after warmup")  # noqa: RUF009
    weight_decay: float = _is(0.01, "AdamW weight decay of matrices; not applied to biases and norms")
    clip: float | None = _is(1.0, "maximum gradient norm; none disables clipping", least=1e-9)
    layer_decay: float = _is(1.0, "factor of the learning rate from each layer to the one below it; 1: the same for all", most=1)
    label_smoothing: float = _is(0.0, "share of each label's probability that is spread over all classes in training", most=0.99)
    class_weights: ClassWeights = _is("none", "weights of the training loss; balanced: inverse to the frequency of the label")  # noqa: RUF009
    train_only: TrainOnly = _is("all", "train all weights, or only the head on top of a frozen checkpoint")  # noqa: RUF009
    freeze: str | None = _is(None, "parts that are not trained, such as embeddings,layers.0-5")
    lora: int | None = _is(None, "train adapters of this rank beside frozen matrices of a checkpoint (LoRA)", least=1, most=4096)
    lora_alpha: float | None = _is(None, "adapters are multiplied by this, divided by the rank; none: twice the rank", least=1e-9)
    lora_on: str = _is("query,value", f"matrices with adapters: {', '.join(ADAPTED)}", among=tuple(ADAPTED))
    precision: Precision = _is("auto", "number format of matrix products; auto: bf16 on a GPU; fp8 needs an H100 or newer")  # noqa: RUF009
    compile: Compile = _is("auto", "use torch.compile; auto: on a GPU, if the run is long enough to repay the compile time")  # noqa: RUF009
    checkpointing: Checkpointing = _is("no", "recompute layers in the backward pass: less memory, identical results")  # noqa: RUF009
    threads: int | None = _is(None, "CPU threads; none chooses by the work of a step", least=1, most=1024)
    parallel: Parallel = _is("ddp", "with several processes, replicate (ddp) or shard (fsdp) the weights")  # noqa: RUF009
    patience: int | None = _is(None, "stop after this many epochs without improvement on validation data; none: never", least=1)
    best_by: str = _is("auto", "what decides the best epoch: auto, loss, or a figure of the task, such as accuracy or spearman")
    average: int = _is(1, "last epochs whose mean weights are best/ if that loss is lower; 1: none", least=1, most=100)
    seed: int = _is(0, "random seed of weights, dropout, order and masks", most=2**62)
    equal_bits: EqualBits = _is("yes", "bit-for-bit reproducible runs; no: faster, non-deterministic GPU kernels")  # noqa: RUF009
    vocab: int = _is(8000, "vocabulary size of the tokenizer that is trained on the texts", least=8)
    case: Case = _is("keep", "whether that tokenizer keeps case or lowercases")  # noqa: RUF009
    max_length: int = _is(128, "maximum text length in tokens; longer texts are truncated", least=3, most=10**6)
    augment: Augment = _is("none", "data augmentation; shift: shift images by up to 10%; hide: mask random tokens")  # noqa: RUF009
    hidden: float = _is(0.2, "share of tokens masked by augment=hide, drawn anew in each epoch", most=0.95)
    mlm_probability: float = _is(0.15, "share of the tokens that masked-token training predicts", least=0.01, most=0.95)
    temperature: float = _is(0.05, "temperature of sentence embeddings: similarities are divided by it", least=1e-3, most=100)
    gradient_cache: int | None = _is(
        None, "sentence embeddings: tokens computed at once, twice, so that large batches fit into memory; none: once", least=1
    )
    context: Context = _is("row", "context of a word in tagging: its whole row, or only the word itself")  # noqa: RUF009
    keep: int = _is(2, "number of checkpoints to keep, in addition to the weights of the best", least=2, most=1000)
    save_every: int | None = _is(None, "steps between checkpoints within an epoch; none: only after each epoch", least=1)
    log_every: int = _is(10, "steps between log lines", least=1)

    def __post_init__(self) -> None:
        for name, rule in setting_rules().items():
            rule.check(name, getattr(self, name))

    def replace(self, **settings: Any) -> Settings:
        """Return a copy with some settings changed."""
        return dataclasses.replace(self, **settings)

    def rows_at(self, length: int) -> int:
        """Return the number of rows in a batch whose rows have `length` tokens."""
        return self.batch_size if self.batch_tokens is None else max(1, self.batch_tokens // length)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as a JSON-serializable dict."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Settings:
        """Create settings from a parsed file; raise an error for an unknown name."""
        require_settings(document)
        return cls(**document)


@dataclass(frozen=True)
class Rule:
    """The type and range of one setting."""

    kind: type  # int, float, or str (one of the choices, or names with commas between them)
    choices: tuple[str, ...]
    optional: bool
    default: Any
    doc: str
    least: float
    most: float
    among: tuple[str, ...] = ()  # the names that a list with commas may have; empty: any

    def check(self, name: str, value: Any) -> None:
        """Raise an error that states the rule if the value is not allowed."""
        if not (value is None and self.optional) and not self._allows(value):
            near = nearest(value, self.choices) if isinstance(value, str) else ""
            raise GlassformerError(f"{name}={shown(value)} is not allowed: {self.words()}.{near}")

    def read(self, name: str, text: str) -> Any:
        """Parse a value from text; `none` gives None if the setting is optional."""
        if self.optional and text == "none":
            return None
        try:
            value = self.kind(text)
        except ValueError:
            raise GlassformerError(f"{name}={shown(text)} is not allowed: {self.words()}.") from None
        self.check(name, value)
        return value

    def words(self) -> str:
        """Describe the rule."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is str:
            which = f"one or several of {', '.join(self.among)}" if self.among else "names"
            return f"{which}, with commas between them" + (", or none" if self.optional else "")
        kind = "a whole number" if self.kind is int else "a number"
        upper = "" if self.kind is int and self.most == 10**9 else f" to {self.most:,}"
        return f"{kind} from {self.least:g}{upper}" + (", or none" if self.optional else "")

    def _allows(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.kind is str:
            words = value.split(",") if isinstance(value, str) and NAMES.fullmatch(value) else [""]
            return all(word.strip() in self.among if self.among else word.strip() for word in words)
        fits = isinstance(value, int if self.kind is int else int | float) and not isinstance(value, bool)
        return fits and self.least <= value <= self.most  # excludes NaN and infinity


def require_settings(names: Iterable[str], *, also: Iterable[str] = ()) -> None:
    """Raise an error for a name that is not a setting; `also` adds names to suggest."""
    for name in names:
        if name not in setting_rules():
            raise GlassformerError(f"unknown setting '{shown(name)}'.{nearest(name, [*setting_rules(), *also])}")


def require_free(names: Iterable[str]) -> None:
    """Raise an error for a setting that cannot be changed on resume."""
    for name in names:
        if name not in FREE:
            raise GlassformerError(f"{shown(name)} cannot be changed on resume: only {', '.join(FREE)} can.")


def epoch_counts(epochs: int | str | Sequence[int]) -> list[int]:
    """Parse `50`, or a list such as `10,30,50`, which trains one run for each."""
    given: list[Any] = epochs.split(",") if isinstance(epochs, str) else as_list(epochs) if in_order(epochs) else [epochs]
    words = [str(int(word)) if is_whole(word) and abs(word) < 10**9 else shown(word) for word in given]
    text = ",".join(words)
    if len(words) > 20 or not all(len(word) < 8 and word.isdecimal() and int(word) for word in words):
        raise GlassformerError(f"--epochs {shown(text)} is not allowed: a whole number from 1, or several as in 10,30,50.")
    counts = [int(word) for word in words]
    if twice := next((count for count in counts if counts.count(count) > 1), None):
        raise GlassformerError(f"--epochs {shown(text)} names {twice} twice: each number of epochs is a separate run.")
    return counts


@lru_cache(maxsize=1)
def setting_rules() -> dict[str, Rule]:
    """Return setting -> rule, derived from the types and metadata of `Settings`."""
    hints = get_type_hints(Settings)
    return {item.name: _rule(hints[item.name], item) for item in dataclasses.fields(Settings)}


def _rule(hint: Any, item: dataclasses.Field[Any]) -> Rule:
    if get_origin(hint) is Literal:
        return Rule(str, get_args(hint), optional=False, default=item.default, **item.metadata)
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not NoneType]
    return Rule(kinds[0], (), optional=NoneType in get_args(hint), default=item.default, **item.metadata)
