"""Complexity classes: sums of monomials, `n² · d + n · d²`, without dominated terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from glassformer.errors import shown
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.expressions.plain import plain
from glassformer.expressions.tree import Name, Node, Number, Power, Product, Quantity, Sum, ungrouped

Monomial = tuple[tuple[str, int], ...]  # letters and powers, by letter: (("d", 1), ("n", 2))

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ORDER = ("L", "n", "w", "d", "V", "C", "p")
# Common symbols for the length, the widths, and sizes that count as constants.
SYMBOLS = {
    **dict.fromkeys("n t s T N length seq_len".split(), "n"),
    **dict.fromkeys("d D d_model d_k d_v d_ff d_q d_h dim".split(), "d"),
    **dict.fromkeys("h H b B heads batch".split(), ""),
    **dict.fromkeys("w window".split(), "w"),
    **dict.fromkeys("V vocab".split(), "V"),
    **dict.fromkeys("L layers".split(), "L"),
}


@dataclass(frozen=True)
class Growth:
    """A complexity class: the terms that no other term dominates."""

    terms: frozenset[Monomial]

    @staticmethod
    def of(terms: Iterable[Monomial]) -> Growth:
        kept = set(terms)
        return Growth(frozenset(term for term in kept if not any(_outgrown(term, other) for other in kept - {term})))

    @property
    def text(self) -> str:
        """`O(n² · d + n · d²)`."""
        return f"O({' + '.join(_written(term) for term in sorted(self.terms, key=_powers))})"

    def without(self, *letters: str) -> Growth:
        """Return the class with these letters taken as constants."""
        return Growth.of(tuple(factor for factor in term if factor[0] not in letters) for term in self.terms)

    def capped(self, letter: str, power: int) -> Growth:
        """Return the class with the powers of a letter limited to `power`."""
        return Growth.of(
            tuple((name, min(size, power) if name == letter else size) for name, size in term) for term in self.terms
        )

    def leading(self, letter: str) -> Growth:
        """Return the terms with the highest power of a letter, which dominate when it is large."""
        most = max(dict(term).get(letter, 0) for term in self.terms)
        return Growth.of(term for term in self.terms if dict(term).get(letter, 0) == most)


def monomial(powers: Iterable[tuple[str, int]]) -> Monomial:
    """Return a monomial with the powers of each letter added up."""
    total: Counter[str] = Counter()
    for letter, power in powers:
        total[letter] += power
    return tuple(sorted((letter, power) for letter, power in total.items() if letter and power))


def class_of(node: Node) -> Growth:
    """Return the class of an expression in letters: `n^2 * d`, `O(n^2 d + n d^2)`; constants are dropped."""
    match ungrouped(node):
        case Number():
            raise NotUnderstoodError(f"'{shown(plain(node))}' is a number, not a complexity class: write it as in n^2*d.")
        case Quantity("O" | "Θ", (inner,)):
            return class_of(inner)
        case Sum(terms):
            return Growth.of(_term(term) for _, term in terms)
        case other:
            return Growth.of([_term(other)])


def _term(node: Node) -> Monomial:
    match ungrouped(node):
        case Number():
            return ()
        case Name(text):
            return monomial((letter, 1) for letter in _letters(text))
        case Product(factors) if all(sign not in ("/", "//") for sign, _ in factors[1:]):
            return monomial(power for _, factor in factors for power in _term(factor))
        case Power(base, Number(numeral)) if numeral.value.denominator == 1 and 0 <= numeral.value <= 9:
            return _raised(base, int(numeral.value))
    raise NotUnderstoodError(f"'{shown(plain(node))}' is not a complexity class: write it as in n^2*d or n^2*d + n*d^2.")


def _raised(base: Node, power: int) -> Monomial:
    """Raise a base to a power; `nd^2` is n · d², any other base is raised as a whole."""
    if isinstance(base, Name) and base.text not in SYMBOLS:
        *first, last = _letters(base.text)
        return monomial([*((letter, 1) for letter in first), (last, power)])
    return monomial((letter, size * power) for letter, size in _term(base))


def _letters(text: str) -> list[str]:
    """Return the letters of a name: one size, or several written without an operator between them."""
    if text in SYMBOLS:
        return [SYMBOLS[text]]
    if text and all(letter in SYMBOLS for letter in text):
        return [SYMBOLS[letter] for letter in text]
    raise NotUnderstoodError(f"'{shown(text)}' is not a size in complexity classes: use n, d, h, w, L or V.")


def _outgrown(term: Monomial, other: Monomial) -> bool:
    mine, theirs = dict(term), dict(other)
    return all(power <= theirs.get(letter, 0) for letter, power in mine.items())


def _powers(term: Monomial) -> tuple[int, ...]:
    powers = dict(term)
    return tuple(-powers.get(letter, 0) for letter in ("n", "d", "V", "C", "p"))


def _written(term: Monomial) -> str:
    ordered = sorted(term, key=lambda factor: ORDER.index(factor[0]) if factor[0] in ORDER else len(ORDER))
    return " · ".join(letter + (str(power).translate(RAISED) if power > 1 else "") for letter, power in ordered) or "1"
