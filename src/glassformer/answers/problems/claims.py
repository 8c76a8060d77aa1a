"""Claims about a problem: each names a quantity and gives its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.answers.problems.figures import Figures, read_figures
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.numbers.by_hand import Problem, Solution, parse_problem
from glassformer.numbers.by_hand.result_names import resolved_names

MOST_CLAIMS = 64
LONGEST_NAME = 40
BETWEEN = ("=", "≈", ":", " is ")  # a name and its numbers


@dataclass(frozen=True, eq=False)
class Claimed:
    """One claim. `quantity` is the name of the quantity in every work of the problem, `said` the name in the claim."""

    said: str
    quantity: str
    figures: Figures


def problem_and_claims(source: str | Path | Mapping[str, Any] | Problem) -> tuple[Problem, dict[str, Any]]:
    """Read a problem and its `claims` table."""
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
    """Read claims from a JSON or TOML file that maps names to numbers."""
    document = read_document(path)
    inner = document.get("claims")
    return dict(inner) if isinstance(inner, Mapping) and len(document) == 1 else document


def claim_in_words(words: str) -> tuple[str, str]:
    """Split `weights = [0.6225, 0.3775]` into name and numbers; the name is empty if there are only numbers."""
    places = {words.find(sign): sign for sign in BETWEEN if words.find(sign) >= 0}
    first = min(places, default=0)
    name = words[:first].strip()
    plain = name[:1].isalpha() and len(name) <= LONGEST_NAME and all(sign.isalnum() or sign in "_'^ .-" for sign in name)
    return (name, words[first + len(places[first]) :].strip()) if plain else ("", words)


def read_claims(solution: Solution, claims: Mapping[str, Any] | Sequence[str]) -> list[Claimed]:
    """Return every claim with its quantity, in the order of computation."""
    pairs = list(claims.items()) if isinstance(claims, Mapping) else [claim_in_words(words) for words in claims]
    if not pairs:
        raise GlassformerError('there are no claims: use --claim "weights = [0.62, 0.38]", or a [claims] table in the problem.')
    if len(pairs) > MOST_CLAIMS:
        raise GlassformerError(f"{len(pairs)} claims are too many: at most {MOST_CLAIMS} per problem.")
    found: dict[str, Claimed] = {}
    for said, given in pairs:
        claimed = _claimed(solution, said, given)
        if claimed.quantity in found:
            other = found[claimed.quantity].said
            raise GlassformerError(f"'{shown(said)}' and '{other}' are the same quantity: give only one of them.")
        found[claimed.quantity] = claimed
    order = [tensor.name for tensor in solution.program.inputs] + [step.name for step in solution.program.steps]
    return sorted(found.values(), key=lambda claimed: _place(solution.names[claimed.quantity], order))


def _place(name: str, order: list[str]) -> int:
    return order.index(name) if name in order else -1


def _claimed(solution: Solution, said: str, given: Any) -> Claimed:
    word = said or _asked(solution)
    more = resolved_names((word,), solution.names, solution.labels)
    tensor = more.get(word) or solution.names[word]
    quantity = "output" if tensor == solution.names.get("output") else tensor
    return Claimed(shown(word, limit=40), quantity, read_figures(given, shown(word, limit=40)))


def _asked(solution: Solution) -> str:
    """Return the quantity of a claim without a name: the only one that was asked for, or the result."""
    if len(solution.requested) == 1:
        return solution.requested[0]
    return "output" if "output" in solution.names else solution.output.name
