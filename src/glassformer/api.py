"""The Python side of the commands: the same names, the same words, results that print and render."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from glassformer import algebra, show
from glassformer.algebra import Bridge, Cost, Count, Notation, Shapes
from glassformer.algebra.memory import Dtype, Kernel, Optimizer
from glassformer.program import Program
from glassformer.program import build as build_program
from glassformer.program.pen import Convention, LatexPen, TextPen
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.arguments import is_number, is_whole, listing, one_of, path, text, yes_no
from glassformer.spec.presets import preset_doc, preset_names
from glassformer.spec.reading import Request, request
from glassformer.spec.weight_files import RUN

if TYPE_CHECKING:
    from glassformer.algebra.formulas import FormulaShapes
    from glassformer.answers.documents import CheckedDocument
    from glassformer.answers.problems import Checked
    from glassformer.answers.quantities import Answer, Table
    from glassformer.answers.verdicts import Diagnosis
    from glassformer.expressions.tree import Node
    from glassformer.numbers import Checkpoint, Run
    from glassformer.numbers.by_hand import Problem, Solution
    from glassformer.numbers.experiments import Experiment
    from glassformer.show.notebook.learning import Curves

What: TypeAlias = str | Path | EncoderSpec | Mapping[str, Any]
Parts: TypeAlias = str | Iterable[str] | None
FEW_WORDS = 3  # fewer words are no sentence
MOST = 10**30  # no size of a formula is larger

assert show.present  # importing the room teaches results how to print


def presets() -> dict[str, str]:
    """Every preset with its one-line description."""
    return {name: preset_doc(name) for name in preset_names()}


def build(what: What, *, as_class: str | None = None, padded: bool = False, **fields: Any) -> Program:
    """The program of an encoder: `gf.build("bert-base", t=16)`."""
    asked = request(what, as_class=as_class, **fields)
    return build_program(asked.spec, batch=asked.batch, t=asked.t, padded=yes_no("padded", padded))


def count(what: What, *, without: Parts = None, only: Parts = None, as_class: str | None = None, **fields: Any) -> Count:
    """How many parameters, where, under which convention: `gf.count("bert-base", layers=8, without="biases,norms")`."""
    asked = request(what, as_class=as_class, **fields)
    return algebra.count(asked.spec, without=without, only=only, label=asked.label)


def bridge(left: What | Count, right: What | Count) -> Bridge:
    """Why two counts differ, line by line: `gf.bridge("bert-base", gf.count("bert-base", head="pretrain"))`."""
    return algebra.bridge(*[end if isinstance(end, Count) else count(end) for end in (left, right)])


def shapes(
    what: What, *, convention: Convention = "rows", head: int | None = None, as_class: str | None = None, **fields: Any
) -> Shapes:
    """The shape of every tensor: `gf.shapes("bert-base", t=5)["layers.0.attention.q"].shape`."""
    asked = request(what, as_class=as_class, **fields)
    program = build_program(asked.spec, batch=asked.batch, t=asked.t)
    return algebra.shapes(program, convention=convention, head=head, label=asked.label)


def cost(
    what: What,
    *,
    train: bool = False,
    kernel: Kernel = "materialised",
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    masked: float = 1.0,
    as_class: str | None = None,
    **fields: Any,
) -> Cost:
    """FLOPs and bytes of one pass: `gf.cost("bert-base", batch=8, t=512, train=True)`.

    `masked` is the share of the positions at which a masked-token head predicts; with `kernel="fused"`, as our encoder does it,
    nothing after the last layer's attention is computed anywhere else. `kernel="compiled"` is the same where layers are
    compiled or rounded to float8: the activations of feed-forward blocks are not kept, either.
    """
    asked = request(what, as_class=as_class, **fields)
    program = build_program(asked.spec, batch=asked.batch, t=asked.t)
    which: Literal["training", "forward"] = "training" if yes_no("train", train) else "forward"
    if not (is_number(masked) and 0 <= masked <= 1):
        raise GlassformerError(f"masked={shown(masked)} is not a share of the positions: it lies between 0 and 1.")
    share = Fraction(float(masked)).limit_denominator(10**6)
    return algebra.cost(program, which=which, kernel=kernel, dtype=dtype, optimizer=optimizer, asked=share, label=asked.label)


def notation(
    what: What, *, convention: Convention = "rows", latex: bool = False, as_class: str | None = None, **fields: Any
) -> Notation:
    """The forward pass as numbered equations: `gf.notation("bert-base", latex=True)`."""
    asked = request(what, as_class=as_class, **fields)
    program = build_program(asked.spec, batch=asked.batch, t=asked.t)
    one_of("convention", convention, get_args(Convention))
    pen = (LatexPen if yes_no("latex", latex) else TextPen)(convention)
    return algebra.notation(program, pen, label=asked.label)


def experiment(name: str, *, seed: int = 0, text: str | None = None, **fields: Any) -> Experiment:
    """A textbook's sentence, tried on real arithmetic: `gf.experiment("order")`."""
    from glassformer.numbers import experiments

    return experiments.experiment(name, seed=seed, text=text, **fields)


def run(
    what: What,
    *,
    text: str | None = None,
    tokens: Sequence[int] | None = None,
    picture: Any = None,
    frames: Any = None,
    seed: int | None = None,
    as_class: str | None = None,
    **fields: Any,
) -> Run:
    """Every number of a forward pass: of a checkpoint folder on text or ids, or of a spec with legible weights from a seed.

    `picture` is what an image encoder reads: numbers [channel, row, column], scaled as it was trained. `frames` is what a sound
    encoder reads: numbers [mel, frame].
    """
    from glassformer.numbers import open_checkpoint
    from glassformer.numbers.seeded import seeded_run

    if tokens is not None and (isinstance(tokens, str | bytes) or not _in_order(tokens)):
        raise GlassformerError(f"tokens={shown(tokens)} is not allowed: tokens are ids in order, such as [101, 2023, 102].")
    ways_in = {"text": text, "tokens": tokens, "picture": picture, "frames": frames}
    if isinstance(what, str | Path) and holds_weights(what):
        if fields:
            name = next(iter(fields))
            raise GlassformerError(
                f"{shown(name)}={shown(fields[name])} is given, and {shown(str(what))} has weights, which fit no other encoder: "
                f"leave {shown(name)} out, or name the file that describes it, for weights from a seed."
            )
        if seed is not None:
            raise GlassformerError(
                f"seed={shown(seed)} is given, and {shown(str(what))} has weights of its own: leave the seed out, or name the "
                "file that describes the encoder, for weights from a seed."
            )
        return _run_checkpoint(open_checkpoint(what, as_class=as_class), ways_in)
    for name, told, reads in (("picture", "a picture is", "images"), ("frames", "frames are", "sound")):
        if ways_in[name] is not None:
            raise GlassformerError(
                f"{told} for a checkpoint that reads {reads}: a spec without weights makes its own from the seed."
            )
    if text is not None and tokens is not None:
        raise GlassformerError("text and tokens are both given: what goes in is one of them.")
    asked = request(what, as_class=as_class, **fields)
    ids = list(tokens) if tokens is not None else None
    given = text.split() if isinstance(text, str) else ids
    if given:
        _require_size("t", asked.t, len(given), fields)
        _require_size("batch", asked.batch, 1, fields)
    return seeded_run(asked.spec, batch=asked.batch, t=asked.t, words=text, ids=ids, seed=0 if seed is None else seed)


# What a checkpoint reads, where that is no text: what it is called, the argument that takes it, and how to give it.
NO_TEXT = {"image": ("images", "picture", "picture (--picture FILE)"), "frames": ("sound", "frames", "frames (--frames FILE)")}


def _run_checkpoint(checkpoint: Checkpoint, ways_in: Mapping[str, Any]) -> Run:
    """One pass over what was given, which must be the one thing that the checkpoint reads."""
    given = {name: value for name, value in ways_in.items() if value is not None}
    reads = checkpoint.spec.reads
    if reads in NO_TEXT:
        kind, wanted, way = NO_TEXT[reads]
        if [*given] != [wanted]:
            raise GlassformerError(f"what goes in? This encoder reads {kind}: give {way}, and nothing else.")
        return checkpoint.run(**{reads: given[wanted]})
    if [*given] == ["text"]:
        return checkpoint.run(text=given["text"])
    if [*given] == ["tokens"]:
        return checkpoint.run(tokens=[list(given["tokens"])])
    raise GlassformerError("what goes in? Give text or tokens, and only one of them.")


def _require_size(name: str, size: int | None, found: int, fields: Mapping[str, Any]) -> None:
    """What goes in says itself how large it is: another size beside it would be passed over in silence."""
    if name in fields and size != found:
        raise GlassformerError(f"{name}={size} is given, and what goes in has {name}={found}: leave {name} out.")


def holds_weights(what: str | Path) -> bool:
    """Whether a name is a folder with a checkpoint's weights in it, or a training run, whose best weights are meant."""
    try:
        return (Path(what) / RUN).is_file() or any(Path(what).glob("*.safetensors*"))
    except (OSError, ValueError, NotImplementedError):
        return False


def curves(*runs: str | Path) -> Curves:
    """The learning curves of run folders on shared axes: `gf.curves("runs/digits-1")`."""
    from glassformer.show.notebook import learning

    return learning.curves(*runs)


def work(problem: str | Path | Mapping[str, Any]) -> Solution:
    """A problem by hand, worked out step by step: a problem file, or its content as a mapping."""
    from glassformer.numbers import by_hand

    if isinstance(problem, Mapping):
        return by_hand.solve(by_hand.parse_problem(dict(problem), "the given mapping"))
    return by_hand.solve(by_hand.load_problem(path("problem", problem)))


def ask(
    expression: str, what: What | None = None, *, digits: int | None = None, as_class: str | None = None, **fields: Any
) -> Answer | Table:
    """The value of an expression: `gf.ask("params(ffn) / params", "bert-base")`, `gf.ask("16 * 2 * 768")`.

    A size may be a list, `t=[128, 256]`, which gives a table. A question in English is read into one expression, or refused.
    """
    from glassformer.answers import quantities
    from glassformer.answers.quantities.asking import several

    fields, over = several(fields)
    asked = _asked_of(what, as_class, fields)
    node, _ = understood(text("expression", expression), asked)
    return quantities.ask(node, asked, over=over, digits=digits, files=True)


def understood(expression: str, asked: Request | None = None) -> tuple[Node, bool]:
    """An expression as a tree, and whether it was a question in English, which is read into one expression or refused."""
    from glassformer.answers.quantities.evaluation import unknown_names
    from glassformer.expressions.language import read

    refusal = None
    try:
        node = read(expression)
        if not unknown_names(node):
            return node, False
    except GlassformerError as error:
        node, refusal = None, error
    words = [word for word in expression.split() if word.strip("?,.:").isalpha()]
    if len(words) < FEW_WORDS:  # no sentence: the language says what is wrong with it
        if node is None:
            raise refusal or GlassformerError(f"'{shown(expression)}' is empty.")
        return node, False
    from glassformer.answers.english import read_english

    return read_english(expression, asked).expression, True


def check(
    relation: str, what: What | None = None, *, claim: str | int | float | None = None, as_class: str | None = None, **fields: Any
) -> Diagnosis:
    """Right, right under a convention, or the mistake: `gf.check("params = 110M", "bert-base")`.

    With `claim` the relation is an expression, and the claim its other side: `gf.check("params", "bert-base", claim="110M")`.
    """
    from glassformer.answers import verdicts

    said = None if claim is None else str(claim)
    return verdicts.check(text("relation", relation), _asked_of(what, as_class, fields), claim=said, files=True)


def check_worked(
    problem: Problem | Mapping[str, Any] | str | Path, claims: Mapping[str, Any] | Sequence[str] | None = None
) -> Checked:
    """Judge what somebody worked out: `gf.check_worked("attention.toml", {"weights": "[0.6225, 0.3775]"})`.

    A problem is a file, what stands in one, or a `Problem`; claims come from its `claims` table where none are given.
    """
    from glassformer.answers import problems
    from glassformer.numbers.by_hand import Problem

    of = problem if isinstance(problem, Problem | Mapping) else path("problem", problem)
    if claims is not None and not isinstance(claims, Mapping):
        claims = [claims] if isinstance(claims, str) else claims
        if not isinstance(claims, Sequence) or not all(isinstance(claim, str) for claim in claims):
            raise GlassformerError(
                f"claims={shown(claims)} is not allowed: give ['weights = [0.62, 0.38]'], or a mapping of names."
            )
    return problems.check_worked(of, claims)


def check_solution(file: str | Path) -> CheckedDocument:
    """Judge a worked solution in a .md, .txt, .tex or .ipynb file: `gf.check_solution("solution.md").wrong`."""
    from glassformer.answers import documents

    return documents.check_solution(path("file", file))


def check_formula(formula: str, shapes: Iterable[str] | Mapping[str, Any] = ()) -> FormulaShapes:
    """Follow the shapes of a formula: `gf.check_formula("Q = W_Q X", {"X": (768, 6), "W_Q": "64x768"})`."""
    from glassformer.algebra import formulas as room

    text("formula", formula)
    if isinstance(shapes, Mapping):
        return room.check_formula(formula, {str(name): _sizes(name, value) for name, value in shapes.items()})
    words = [shapes] if isinstance(shapes, str) else listing(shapes)
    if not all(isinstance(word, str) for word in words):
        raise GlassformerError(f"shapes={shown(shapes)} is not allowed: give {{'X': (768, 6)}}, or words such as 'X=768x6'.")
    return room.check_formula(formula, words)


def _sizes(name: Any, value: Any) -> str | int | tuple[str | int, ...]:
    """A shape as somebody gave it: a text, a size, or sizes in order."""
    ordered = not isinstance(value, str | bytes) and _in_order(value)
    sizes = list(value) if ordered else [value]
    if not sizes or not all(isinstance(size, str) or (is_whole(size) and abs(size) < MOST) for size in sizes):
        raise GlassformerError(f"the shape of {shown(name)} is {shown(value)}: write (768, 6), '768x6' or a single size.")
    plain = tuple([size if isinstance(size, str) else int(size) for size in sizes])
    return plain if ordered else plain[0]


def _in_order(value: Any) -> bool:
    """Whether something is a list of its own, or an array in a row, of which the first is the first."""
    return isinstance(value, Sequence) or getattr(value, "ndim", None) == 1


def _asked_of(what: What | None, as_class: str | None, fields: dict[str, Any]) -> Request | None:
    """The encoder that an expression is asked of; none where it names its own or needs none."""
    if what is None and as_class is None and not fields:
        return None
    return request("encoder" if what is None else what, as_class=as_class, **fields)
