"""What can be traced: the models that come with the lab, a checkpoint or a run of the start, or small numbers from a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer.checkpoints.folder import CONFIG, LABELS
from glassformer.checkpoints.special_tokens import Tokens, read_tokens
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.texts import TOKENIZER, load_tokenizer
from glassformer.lab.pages.trace_target import Target, known_words
from glassformer.lab.pages.trace_words import readable
from glassformer.numbers import Run, open_checkpoint, run
from glassformer.numbers.checkpoint import free_memory, numbers_held
from glassformer.numbers.seeded import MOST_WEIGHTS, seeded_run
from glassformer.numbers.texts import encode
from glassformer.numbers.weights import legible_weights
from glassformer.program import Program, build
from glassformer.program.axes import Array
from glassformer.spec import EncoderSpec, Seq2SeqSpec

if TYPE_CHECKING:
    from glassformer.lab.start import Lab

HOME = Path(str(files("glassformer.lab").joinpath("models")))
DIGITS = Path(str(files("glassformer").joinpath("training/sets/digits/test.npz")))
WHITE = 16  # the brightest pixel of the built-in digits
FIRST = "tom"
RANDOM = "random"
RUN = "run:"  # before the name of a run in the runs folder
RANDOM_SPEC = "layer d_model=4 heads=2 d_ff=8"
MOST_SHARED = 60_000_000  # parameters that are held in float64 for all runs of a model: 0.5 GB
MOST_BYTES = 2_500_000_000  # of one run
MOST_LETTERS = 20_000  # of a text
ANY_TEXT = "A river bank, and a bank that lends money."
ANY_WORDS = "Tom a été entarté cet été"
NO_TOKENS = Tokens()


@dataclass(frozen=True, eq=False)
class Model:
    """A model that can be run on a text or an image, the numbers of which are shared by all its runs."""

    key: str
    label: str
    about: str
    spec: EncoderSpec
    weights: Mapping[str, Array] | None  # None: small legible numbers from the seed
    seed: int = 0
    folder: Path | None = None  # where its tokenizer lies
    padding: int = 0
    special: Tokens = NO_TOKENS  # of a model that writes: what begins a text and what ends it
    labels: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    _tokenizer: list[Any] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes that all runs share."""
        return sum(array.nbytes for array in self.weights.values()) if isinstance(self.weights, dict) else 0

    def weight_of(self, run: Run) -> int:
        """Bytes that a run holds beside what all runs share."""
        shared = self.weights if isinstance(self.weights, dict) else {}
        return sum(value.nbytes for name, value in run.values.items() if name not in shared)

    @property
    def first_text(self) -> str:
        """What is traced where nobody said what."""
        return self.examples[0] if self.examples else ANY_TEXT if self.weights is not None else ANY_WORDS

    @property
    def tokenizer(self) -> Any:
        if not self._tokenizer:
            assert self.folder is not None
            self._tokenizer.append(load_tokenizer(self.folder))
        return self._tokenizer[0]

    @property
    def reads(self) -> EncoderSpec:
        """The stack that reads the source."""
        return self.spec.encoder if isinstance(self.spec, Seq2SeqSpec) else self.spec

    def prepared(self, text: str, image: str, target: Target | None = None) -> Prepared:
        """What is about to be run; what cannot be run is refused here, before anything is allocated."""
        if self.spec.reads == "image":
            return Prepared(build(self.spec), {"image": picture(self.spec, image)[None]})
        if self.spec.reads == "frames":
            raise GlassformerError("this encoder reads audio; the lab traces only text and images: try 'glassformer explain'.")
        if len(text) > MOST_LETTERS:
            raise GlassformerError(f"the text has {len(text):,} characters; the lab traces at most {MOST_LETTERS:,}.")
        if self.weights is None:
            words = text.split()
            if not words:
                raise GlassformerError("the text is empty: give at least one word.")
            return Prepared(build(self.spec, t=len(words), u=target.length if target else None), {}, [words], target)
        batch = encode(self.tokenizer, text, self.reads, padding=self.padding)
        inputs = {"tokens": batch.tokens} | ({} if self.spec.segments is None else {"segments": batch.segments})
        if target is not None:
            inputs["target"] = np.array([target.ids])
        return Prepared(
            build(self.spec, t=batch.tokens.shape[1], u=target.length if target else None),
            inputs,
            [readable(row) for row in batch.words],
            target,
        )

    def run(self, prepared: Prepared, layer: int | None) -> Run:
        """The forward pass, all of it kept, or, where a layer is named, of the layers the inside of that one alone."""
        program, inputs, words, target = prepared
        if self.weights is None and words is not None:
            return self._seeded(words[0], target)
        weights = self.weights
        if weights is None:
            count = sum(parameter.size for parameter in program.parameters)
            if count > MOST_WEIGHTS:
                raise GlassformerError(f"this spec has {count:,} parameters, too many for generated numbers. Use smaller sizes.")
            weights = legible_weights(program, self.seed)
        written = [list(target.words)] if target is not None else None
        return run(program, weights, inputs, tokens=words, target=written, layers=None if layer is None else [layer])

    def _seeded(self, words: list[str], target: Target | None) -> Run:
        """Legible numbers on words; an id that a word of the source or of the target's words has is named by it."""
        text = " ".join(words)
        if target is None:
            return seeded_run(self.spec, words=text, seed=self.seed)
        found = seeded_run(self.spec, words=text, target=" ".join(target.words), seed=self.seed)
        if not target.ids:
            return found
        known = known_words(found)
        found = seeded_run(self.spec, words=text, target_ids=list(target.ids), seed=self.seed)
        named = [known.get(token, f"#{token}") for token in target.ids]
        return Run(found.program, found.values, tokens=found.tokens, target=[named])


class Prepared(NamedTuple):
    """A program, what goes into it, and the words of that."""

    program: Program
    inputs: dict[str, Array]
    words: list[list[str]] | None = None
    target: Target | None = None  # what the decoder of an encoder-decoder reads


def can_keep_all(model: Model, program: Program) -> bool:
    """Whether all of a run can be kept; one that cannot be kept even in part is refused before anything is allocated."""
    most = min(MOST_BYTES, (free_memory() or 2 * MOST_BYTES) // 2)
    if 8 * numbers_held(program, None) <= most:
        return True
    needed = 8 * numbers_held(program, [0] if model.weights is not None else None)
    if needed > most:
        raise GlassformerError(
            f"this run would take {needed / 1e9:,.1f} GB of memory; the lab uses at most {most / 1e9:.1f} GB. "
            "Use a shorter text or a smaller model."
        )
    return False


def bundled() -> dict[str, dict[str, Any]]:
    """The models that come with the lab: title, how it was made, and examples."""
    return dict(json.loads((HOME / "models.json").read_text(encoding="utf-8")))


def open_model(lab: Lab, name: str, spec: str, seed: int) -> Model:
    """The model that an address means: one of the lab's own, `random` with a spec, `run:NAME`, or a folder of the start."""
    own = bundled()
    if name in own:
        about = own[name]
        return _opened(HOME / name, name, about["title"], about["made"], tuple(about.get("examples", ())))
    if name == RANDOM:
        return _random(lab, spec or RANDOM_SPEC, seed)
    folder = lab.runs.path(name.removeprefix(RUN)) if name.startswith(RUN) else lab.folders.inside(name)
    parts = ("best", "last") if (folder / "run.json").is_file() else ()
    inner = next((folder / part for part in parts if (folder / part).is_dir()), folder)
    made = f"the weights in {shown(str(inner), limit=200)}"
    return _opened(inner, str(folder), folder.name, made, tokens_from=inner if (inner / TOKENIZER).is_file() else folder)


def _opened(
    folder: Path, key: str, label: str, about: str, examples: tuple[str, ...] = (), tokens_from: Path | None = None
) -> Model:
    found = open_checkpoint(folder)
    weights: Mapping[str, Array] = found.weights
    writes = found.spec.decoder if isinstance(found.spec, Seq2SeqSpec) else found.spec
    if found.parameters <= MOST_SHARED:
        weights = {name: np.asarray(found.weights[name], dtype=np.float64) for name in found.weights}
    return Model(
        key,
        label,
        about,
        found.spec,
        weights,
        folder=tokens_from or folder,
        padding=found.padding,
        special=read_tokens(found.folder, found.config, writes.vocab or 0) if writes.predicts_next else NO_TOKENS,
        labels=_labels(folder, found.spec),
        examples=examples,
    )


def _random(lab: Lab, words: str, seed: int) -> Model:
    name, *rest = words.split() or [""]
    fields = {}
    for word in rest:
        field_name, equals, value = word.partition("=")
        if not equals:
            raise GlassformerError(f"'{shown(word)}' is not a field: write field=value without spaces, for example heads=2.")
        fields[field_name] = value
    asked = lab.request(name, fields)
    made = f"small readable numbers (multiples of 1/4) generated from seed {seed}; not trained"
    return Model(f"{RANDOM} {words} {seed}", asked.label, made, asked.spec, None, seed)


def _labels(folder: Path, spec: EncoderSpec) -> tuple[str, ...]:
    """The names of the classes, where the folder says them."""
    for name in (LABELS, CONFIG):
        if (folder / name).is_file():
            found = read_document(folder / name).get("id2label")
            if isinstance(found, dict) and spec.classes:
                return tuple(shown(str(found.get(str(number), number)), limit=40) for number in range(spec.classes))
    return ()


TEST_ROW = "test:"  # before the number of a row: what Train calls a mistake


def digits() -> tuple[Array, Array]:
    """The built-in digits that can be chosen, two of each, with what they are; the pixels go from -1 to 1."""
    with np.load(DIGITS, allow_pickle=False) as stored:
        pixels, label = stored["image"], stored["label"]
    chosen = np.concatenate([np.flatnonzero(label == digit)[:2] for digit in range(10)])
    chosen = np.concatenate([chosen[::2], chosen[1::2]])  # 0 to 9, and once more
    return pixels[chosen] * (2.0 / WHITE) - 1.0, label[chosen]


def picture(spec: EncoderSpec, name: str) -> Array:
    """A built-in digit as the model takes it, channels first: each pixel repeated or left out until the size fits."""
    if name.startswith(TEST_ROW):
        return _sized(spec, _test_digit(name.removeprefix(TEST_ROW)))
    pixels, _ = digits()
    if not (name or "0").isdecimal() or len(name) > 3 or int(name or "0") >= len(pixels):
        raise GlassformerError(f"image={shown(name)} does not exist: the built-in images are 0 to {len(pixels) - 1}.")
    return _sized(spec, pixels[int(name or "0")])


def _test_digit(row: str) -> Array:
    """A row of the test part of the built-in set `digits`, from 1, as training reads it."""
    from glassformer.training.data import load_data

    inputs: Any = load_data("digits").part("test").inputs
    if not row.isdecimal() or len(row) > 5 or not 1 <= int(row) <= len(inputs):
        raise GlassformerError(f"image={TEST_ROW}{shown(row)} does not exist: the test rows of digits are 1 to {len(inputs)}.")
    pixels: Array = np.asarray(inputs[int(row) - 1][0], dtype=np.float64)
    return pixels * (2.0 / float(inputs.white)) - 1.0


def _sized(spec: EncoderSpec, one: Array) -> Array:
    height, width = spec.image_size
    rows, columns = (np.arange(side) * len(one) // side for side in (height, width))
    return np.repeat(one[rows][:, columns][None], spec.channels, axis=0)
