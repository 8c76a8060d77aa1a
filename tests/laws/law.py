"""A law: a difference that must be zero, or must not be zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from laws.cases import Case, case_of
from laws.ways import WAYS, Way

from glassformer.errors import GlassformerError
from glassformer.spec import EncoderSpec

Measure = Callable[[Way, Case], float | None]
Fit = Callable[[EncoderSpec], EncoderSpec | None]


def as_it_is(spec: EncoderSpec) -> EncoderSpec:
    """The law holds for every spec."""
    return spec


def sequences(spec: EncoderSpec) -> EncoderSpec | None:
    """The law applies to rows of tokens or vectors, not to images and audio."""
    return None if spec.one_length else spec


@dataclass(frozen=True)
class Law:
    """A law: how it is measured, on which specs (`fit` may change a spec until the law applies), and its bounds."""

    name: str
    measure: Measure
    fit: Fit = as_it_is
    double: float = 1e-12
    single: float = 1e-5
    ways: tuple[Way, ...] = WAYS
    differs: bool = False  # the difference must be more than the bound, not less
    every: bool = False  # use every available spec: the result depends on the fields of the spec

    def found(self, way: Way, spec: EncoderSpec, number: int = 0) -> float | None:
        """The difference in one case; None if the law does not apply."""
        try:
            fitting = self.fit(spec)
        except GlassformerError:  # with this change the spec is invalid
            return None
        case = None if fitting is None else case_of(fitting, number)
        return None if case is None else self.measure(way, case)

    def bound(self, way: Way) -> float:
        return self.single if way.single else self.double

    def holds(self, way: Way, difference: float) -> bool:
        return difference > self.bound(way) if self.differs else difference <= self.bound(way)


LAWS: dict[str, Law] = {}


def law(**how: object) -> Callable[[Measure], Measure]:
    """Enter a function among the laws, under its own name."""

    def enter(measure: Measure) -> Measure:
        name = measure.__name__.replace("_", " ")  # type: ignore[attr-defined]
        LAWS[name] = Law(name, measure, **how)  # type: ignore[arg-type]
        return measure

    return enter


EXACT = {"double": 0.0, "single": 0.0}
