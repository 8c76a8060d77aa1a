"""What is claimed about a problem: each claim says which quantity it is of and which numbers it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.answers.problems.figures import Figures, read_figures
from glassformer.numbers.by_hand import Problem, Solution, parse_problem
from glassformer.numbers.by_hand.asking import spelled_anew
from glassformer.spec import GlassformerError, shown
from glassformer.spec.files import read_document

MOST_CLAIMS = 64
LONGEST_NAME = 40
BETWEEN = ("=", "≈", ":", " is ")  # a name and its numbers


@dataclass(frozen=True, eq=False)
class Claimed:
    """One claim. `quantity` is the name by which every work of the problem knows it; `said` is how it was called."""

    said: str
    quantity: str
    figures: Figures


def problem_and_claims(source: str | Path | Mapping[str, Any] | Problem) -> tuple[Problem, dict[str, Any]]:
    """A problem, from where it stands, and what its `claims` table claims."""
    if isinstance(source, Problem):
        return source, {}
    if isinstance(source, Mapping):
        document, name = dict(source), "problem"
    else:
        path = Path(source)
        document, name = read_document(path), path.name
    claims = document.pop("claims", {})
    if not isinstance(claims, Mapping):
        raise GlassformerError(f'{name}: claims must be a table, as in [claims] with a line weights = "[0.62, 0.38]".')
    return parse_problem(document, name), dict(claims)


def claims_in_file(path: Path) -> dict[str, Any]:
    """The claims in a JSON or TOML file: an object from names to numbers."""
    document = read_document(path)
    inner = document.get("claims")
    return dict(inner) if isinstance(inner, Mapping) and len(document) == 1 else document


def claim_in_words(words: str) -> tuple[str, str]:
    """`weights = [0.6225, 0.3775]` as name and numbers; the name is empty where only numbers stand."""
    places = {words.find(sign): sign for sign in BETWEEN if words.find(sign) >= 0}
    first = min(places, default=0)
    name = words[:first].strip()
    plain = name[:1].isalpha() and len(name) <= LONGEST_NAME and all(sign.isalnum() or sign in "_'^ .-" for sign in name)
    return (name, words[first + len(places[first]) :].strip()) if plain else ("", words)


def read_claims(solution: Solution, claims: Mapping[str, Any] | Sequence[str]) -> list[Claimed]:
    """Every claim with its quantity found, in the order in which the quantities are worked out."""
    pairs = list(claims.items()) if isinstance(claims, Mapping) else [claim_in_words(words) for words in claims]
    if not pairs:
        raise GlassformerError('nothing is claimed: give --claim "weights = [0.62, 0.38]", or a [claims] table in the problem.')
    if len(pairs) > MOST_CLAIMS:
        raise GlassformerError(f"{len(pairs)} claims are too many: at most {MOST_CLAIMS} about one problem.")
    found: dict[str, Claimed] = {}
    for said, given in pairs:
        claimed = _claimed(solution, said, given)
        if claimed.quantity in found:
            other = found[claimed.quantity].said
            raise GlassformerError(f"'{shown(said)}' and '{other}' claim the same quantity: give one of them.")
        found[claimed.quantity] = claimed
    order = [tensor.name for tensor in solution.program.inputs] + [step.name for step in solution.program.steps]
    return sorted(found.values(), key=lambda claimed: _place(solution.names[claimed.quantity], order))


def _place(name: str, order: list[str]) -> int:
    return order.index(name) if name in order else -1


def _claimed(solution: Solution, said: str, given: Any) -> Claimed:
    word = said or _asked(solution)
    more = spelled_anew((word,), solution.names, solution.labels)
    tensor = more.get(word) or solution.names[word]
    quantity = "output" if tensor == solution.names.get("output") else tensor
    return Claimed(shown(word, limit=40), quantity, read_figures(given, shown(word, limit=40)))


def _asked(solution: Solution) -> str:
    """What a claim without a name is about: the one thing that was asked, or the result."""
    if len(solution.asked) == 1:
        return solution.asked[0]
    return "output" if "output" in solution.names else solution.output.name
