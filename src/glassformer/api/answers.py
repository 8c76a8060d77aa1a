"""The answer commands in Python: evaluate an expression; check a claim, a worked problem or a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import path, text
from glassformer.configs.reading import Request, What, request
from glassformer.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.answers.documents import CheckedDocument
    from glassformer.answers.problems import Checked
    from glassformer.answers.quantities import Answer, Table
    from glassformer.answers.verdicts import Diagnosis
    from glassformer.expressions.tree import Node
    from glassformer.numbers.by_hand import Problem

SHORTEST_QUESTION = 3  # words; anything shorter is read as an expression, not as English


def ask(
    expression: str | Node, what: What | None = None, *, digits: int | None = None, as_class: str | None = None, **fields: Any
) -> Answer | Table:
    """Evaluate an expression: `gf.ask("params(ffn) / params", "bert-base")`, `gf.ask("16 * 2 * 768")`.

    A list as a size, `t=[128, 256]`, gives a table. A question in English is translated into one expression, or refused.
    A tree returned by `understood` is evaluated directly.
    """
    from glassformer.answers import quantities
    from glassformer.answers.quantities.asking import several
    from glassformer.expressions.tree import Node

    fields, over = several(fields)
    requested = _asked_of(what, as_class, fields)
    node = expression if isinstance(expression, Node) else understood(text("expression", expression), requested)[0]
    return quantities.ask(node, requested, over=over, digits=digits, files=True)


def quantities() -> list[dict[str, Any]]:
    """Return every quantity of the language: its name, description, an example, and its options."""
    from glassformer.answers.quantities import MEANINGS

    return [
        {"quantity": one.name, "doc": one.doc, "example": one.example, "options": list(one.options)} for one in MEANINGS.values()
    ]


def understood(expression: str, requested: Request | None = None) -> tuple[Node, bool]:
    """Return the tree of an expression and whether it was a question in English, which is translated or refused."""
    from glassformer.answers.quantities.evaluation import is_known, unknown_names
    from glassformer.expressions.language import read

    refusal = None
    try:
        node = read(expression)
        if not unknown_names(node):
            return node, False
    except GlassformerError as error:
        node, refusal = None, error
    words = [word for word in expression.split() if word.strip("?,.:").isalpha()]
    if len(words) < SHORTEST_QUESTION or (refusal and is_known(words[0])):  # not English: report the parser's own error
        if node is None:
            raise refusal or GlassformerError(f"'{shown(expression)}' is empty.")
        return node, False
    from glassformer.answers.english import read_english

    return read_english(expression, requested).expression, True


def check(
    relation: str, what: What | None = None, *, claim: str | int | float | None = None, as_class: str | None = None, **fields: Any
) -> Diagnosis:
    """Check a claim: right, right under a convention, or wrong, with the mistake: `gf.check("params = 110M", "bert-base")`.

    With `claim`, `relation` is an expression and the claim its value: `gf.check("params", "bert-base", claim="110M")`.
    """
    from glassformer.answers import verdicts

    value = None if claim is None else str(claim)
    return verdicts.check(text("relation", relation), _asked_of(what, as_class, fields), claim=value, files=True)


def check_worked(
    problem: Problem | Mapping[str, Any] | str | Path,
    claims: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    claims_file: str | Path | None = None,
) -> Checked:
    """Check results worked out by hand: `gf.check_worked("attention.toml", {"weights": "[0.6225, 0.3775]"})`.

    A problem is a file, the content of one, or a `Problem`. `claims_file` is a JSON or TOML file that maps names to numbers.
    Without any claims, the problem's own `claims` table is checked.
    """
    from glassformer.answers import problems
    from glassformer.answers.problems.claims import claims_in_file
    from glassformer.numbers.by_hand import Problem

    of = problem if isinstance(problem, Problem | Mapping) else path("problem", problem)
    if claims is not None and not isinstance(claims, Mapping):
        claims = [claims] if isinstance(claims, str) else claims
        if not isinstance(claims, Sequence) or not all(isinstance(claim, str) for claim in claims):
            raise GlassformerError(
                f"claims={shown(claims)} is not allowed: give ['weights = [0.62, 0.38]'] or {{'weights': '[0.62, 0.38]'}}."
            )
    if claims_file is not None or isinstance(claims, Sequence):
        claims = _together({} if claims_file is None else claims_in_file(path("claims_file", claims_file)), claims)
    return problems.check_worked(of, claims)


def _together(in_file: dict[str, Any], claims: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
    """Merge the claims of a file with the other claims."""
    from glassformer.answers.problems.claims import claim_in_words

    named = claims.items() if isinstance(claims, Mapping) else [claim_in_words(words) for words in claims or ()]
    for name, numbers in named:
        if name in in_file:
            raise GlassformerError(f"'{name or 'the result'}' is claimed twice.")
        in_file[name] = numbers
    return in_file


def check_solution(file: str | Path) -> CheckedDocument:
    """Check a worked solution in a .md, .txt, .tex or .ipynb file: `gf.check_solution("solution.md").wrong`."""
    from glassformer.answers import documents

    return documents.check_solution(path("file", file))


def _asked_of(what: What | None, as_class: str | None, fields: dict[str, Any]) -> Request | None:
    """Return the encoder of an expression; None if the expression names its own or needs none."""
    if what is None and as_class is None and not fields:
        return None
    return request("encoder" if what is None else what, as_class=as_class, decoders=True, **fields)
