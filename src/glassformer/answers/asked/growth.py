"""Complexity classes, read off the steps: the exact count, and how it grows with the length n and the width d."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from glassformer.answers.asked.answer import Answer, Line, Other, made
from glassformer.answers.asked.flops import operations, steps_of
from glassformer.answers.questions import Question
from glassformer.program import Axis, Program, Step
from glassformer.program.axes import HEADS
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

Monomial = tuple[tuple[str, int], ...]  # letters and powers, by letter: (("d", 1), ("n", 2))

LENGTHS = ("t", "s", "patch")
WIDTHS = ("d_model", "d_ff", "d_head", "d_pooled", "d_k", "d_v")  # `head` beside d_k or d_v makes the width of all heads
CONSTANT = ("batch", *HEADS)
SEEN = "s within the window"  # keys that a query sees, where it does not see all of them
LETTERS = {SEEN: "w", "vocab": "V", "class": "C", "segment": "", "pixel": "p"}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SPACE = {"attention": ".attention.weights", "core": ".attention.weights", "scores": ".attention.weights", "ffn": ".ffn."}


@dataclass(frozen=True)
class Growth:
    """A complexity class: a sum of products of letters, none of which another one outgrows."""

    terms: frozenset[Monomial]

    @staticmethod
    def of(terms: Iterable[Monomial]) -> Growth:
        kept = set(terms)
        return Growth(frozenset(term for term in kept if not any(_outgrown(term, other) for other in kept - {term})))

    @property
    def text(self) -> str:
        """`O(n² · d + n · d²)`."""
        return f"O({' + '.join(_written(term) for term in sorted(self.terms, key=_order))})"

    def without(self, *letters: str) -> Growth:
        """With these taken as constants."""
        return Growth.of(tuple(factor for factor in term if factor[0] not in letters) for term in self.terms)

    def capped(self, letter: str, power: int) -> Growth:
        """With no higher power of a letter."""
        return Growth.of(
            tuple((name, min(size, power) if name == letter else size) for name, size in term) for term in self.terms
        )

    def leading(self, letter: str) -> Growth:
        """The terms with the highest power of a letter: what is left where it is large."""
        most = max(dict(term).get(letter, 0) for term in self.terms)
        return Growth.of(term for term in self.terms if dict(term).get(letter, 0) == most)


def monomial(powers: Iterable[tuple[str, int]]) -> Monomial:
    """Letters with their powers added up."""
    total: Counter[str] = Counter()
    for letter, power in powers:
        total[letter] += power
    return tuple(sorted((letter, power) for letter, power in total.items() if letter and power))


def _outgrown(term: Monomial, other: Monomial) -> bool:
    mine, theirs = dict(term), dict(other)
    return all(power <= theirs.get(letter, 0) for letter, power in mine.items())


def _order(term: Monomial) -> tuple[int, ...]:
    powers = dict(term)
    return tuple(-powers.get(letter, 0) for letter in ("n", "d", "V", "C", "p"))


def _written(term: Monomial) -> str:
    places = {letter: place for place, letter in enumerate(("L", "n", "w", "d", "V", "C", "p"))}
    ordered = sorted(term, key=lambda factor: places.get(factor[0], len(places)))
    return " · ".join(letter + (str(power).translate(RAISED) if power > 1 else "") for letter, power in ordered) or "1"


def complexity(question: Question, asked: Request, program: Program) -> Answer:
    """The exact count of multiply-adds, or of numbers kept, with the class it belongs to."""
    if asked.spec.global_every is not None:
        raise GlassformerError(f"'{shown(question.text)}': asked only where all layers are alike, and here some have a window.")
    if question.one_head or asked.spec.layers == 0:
        raise GlassformerError(f"'{shown(question.text)}' is not understood: ask for the complexity of a layer or a part of it.")
    return _space(question, asked, program) if question.kind == "space" else _time(question, asked, program)


def _time(question: Question, asked: Request, program: Program) -> Answer:
    target = question.target or "layers"
    whole = question.every_layer or (question.target is None and not question.one_layer)
    paper = target == "attention"  # its Table 1 counts the scores and the weighted sum: the projections are a class of their own
    own = replace(question, kind="macs", target="core" if paper else target, one_layer=not whole, every_layer=whole)
    steps, window = steps_of(own, program), asked.spec.window
    axes, products = partial(_axes_of_product, window=window), partial(_products, window=window)
    growth, value = growth_of(steps, axes), sum(map(products, steps))
    lines = operations(own, asked, program).lines
    others = [Other(f"{growth.text}, FLOPs, a multiply-add counted as two", 2 * value)]
    said = "the scores and the weighted sum, as the paper's Table 1" if paper else f"matrix products of {target}"
    wider = []
    if paper:
        more = steps_of(replace(own, target="attention"), program)
        wider = [growth_of(more, axes)]
        others.insert(0, Other(f"{wider[0].text}, with the projections", sum(map(products, more))))
    if window is not None:
        lines = tuple(Line(step.name, "", f"{products(step):,}", products(step)) for step in steps if products(step))
        others.append(
            Other("every pair computed, and those outside the window thrown away", _number(operations(own, asked, program)))
        )
        said += f", pairs within the window w={window} alone"
    many = f", times the {asked.spec.layers} layers" if whole else ", one layer"
    convention = f"{growth.text}: {said}{many}, n={program.sizes.t}, d for every width; {_doubled(steps, products)}"
    answer = made(question, asked, value, f"multiply-adds, {growth.text}", convention, lines, others)
    return replace(answer, growth=growth, other_growths=_beside(growth, wider))


def _space(question: Question, asked: Request, program: Program) -> Answer:
    target = question.target or "layers"
    if target != "layers" and target not in SPACE:
        raise GlassformerError(f"'{shown(question.text)}' is not understood: ask for that of the attention, the FFN or a layer.")
    if asked.spec.window is not None:
        raise GlassformerError(
            f"'{shown(question.text)}': with a window it depends on what a kernel keeps. Ask for the complexity."
        )
    first = [step for step in program.steps if step.name.startswith("layers.0.")]
    steps = [step for step in first if SPACE.get(target, "layers.0.") in step.name]
    growth, value = growth_of(steps, _axes_of_output), sum(step.output.size for step in steps)
    lines = [_kept(step) for step in steps]
    others, wide = [], []
    if target in ("attention", "core"):
        kept = [step for step in first if ".attention." in step.name]
        wide = [growth_of(kept, _axes_of_output)]
        others = [Other(f"{wide[0].text}, every intermediate of the attention", sum(step.output.size for step in kept))]
    said = "the attention weights" if target in ("attention", "core", "scores") else f"every intermediate of {target}"
    convention = f"{growth.text}: {said}, one layer, heads as a constant, n={program.sizes.t}, d for every width"
    answer = made(question, asked, value, f"numbers, {growth.text}", convention, lines, others)
    return replace(answer, growth=growth, other_growths=_beside(growth, wide))


def _beside(growth: Growth, wider: list[Growth]) -> tuple[tuple[str, Growth], ...]:
    """The same class as others write it: with the projections, by the length alone, for long inputs."""
    found = [("with everything around it", other) for other in wider]
    found += [("the width taken as a constant", growth.without("d"))]
    if growth.without("w") != growth:
        found += [
            ("the window taken as a constant", growth.without("w")),
            ("window and width as constants", growth.without("w", "d")),
        ]
    if len(growth.terms) > 1:
        found += [("for lengths far above the width", growth.leading("n"))]
    return tuple((said, other) for said, other in found if other != growth)


def growth_of(steps: Iterable[Step], axes_of: Callable[[Step], Iterable[Axis]]) -> Growth:
    """The class of a sum over steps: each is as large as the product of its axes."""
    return Growth.of(monomial(_letters(axes_of(step))) for step in steps)


def _axes_of_product(step: Step, *, window: int | None) -> list[Axis]:
    if not step.operation.macs(step.inputs, step.output):
        return []
    axes = {axis.name: axis for tensor in (step.output, *step.inputs) for axis in tensor.axes}
    if window is not None and {"t", "s"} <= set(axes):
        axes["s"] = Axis(SEEN, axes["s"].size)
    return list(axes.values())


def _products(step: Step, times: int = 1, *, window: int | None) -> int:
    """Multiply-adds of a step for so many times the length; with a window those of the pairs within it."""
    axes = {axis.name: axis.size for tensor in (step.output, *step.inputs) for axis in tensor.axes}
    macs, lengths = step.operation.macs(step.inputs, step.output), sum(name in LENGTHS for name in axes)
    if window is None or lengths < 2:
        return macs * int(times**lengths)
    seen: int = _pairs(window, times * axes["t"])
    return macs * seen // (axes["t"] * axes["t"])


def _pairs(window: int, length: int) -> int:
    """Queries and keys that see each other."""
    reach = min(window // 2, length - 1)
    return length * (2 * reach + 1) - reach * (reach + 1)


def _axes_of_output(step: Step) -> tuple[Axis, ...]:
    return step.output.axes


def _letters(axes: Iterable[Axis]) -> Iterator[tuple[str, int]]:
    for axis in axes:
        if axis.name in LENGTHS:
            yield "n", 1
        elif axis.name in WIDTHS:
            yield "d", 1
        elif axis.name not in CONSTANT:
            yield LETTERS.get(axis.name, axis.name), 1


def _doubled(steps: Iterable[Step], products: Callable[[Step, int], int]) -> str:
    """What twice the length costs, exactly."""
    once, twice = (sum(products(step, times) for step in steps) for times in (1, 2))
    return f"twice the length costs {twice / once:.4g} times as much"


def _kept(step: Step) -> Line:
    axes = step.output.axes
    names, sizes = " · ".join(axis.name for axis in axes), " · ".join(str(axis.size) for axis in axes)
    return Line(step.name, names, sizes, step.output.size)


def _number(answer: Answer) -> int:
    assert isinstance(answer.value, int)
    return answer.value
