"""Reads a set from a TOML file or from the built-in ones, and validates every field; errors are one line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from glassformer.answers.mistakes.catalogue import Mistake
from glassformer.answers.quiz.arithmetic import comparisons, names_used
from glassformer.answers.quiz.draws import check_choices
from glassformer.answers.quiz.fields import READERS, declared_mistakes, in_question, name_in, named_mistakes, options_in, text_in
from glassformer.answers.quiz.template import QuizSet, Template, placeholders
from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.expressions.tree import names_in
from glassformer.files.documents import parse_toml, read_text
from glassformer.numbers.experiments import EXPERIMENTS

MOST_QUESTIONS = 200
MOST_BYTES = 1_000_000


def shipped() -> list[str]:
    """Return the names of the built-in sets."""
    return sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def load_set(what: str | Path) -> QuizSet:
    """Load a set by name, from a file, or from a folder that `quiz make` wrote."""
    name = str(what)
    if name in shipped():
        return parse_set((_folder() / f"{name}.toml").read_text(encoding="utf-8"), name)
    path = Path(name)
    try:
        path = path / "set.toml" if path.is_dir() else path
        there = path.is_file()
    except (OSError, ValueError):  # not a valid file name
        there = False
    if not there:
        raise GlassformerError(f"no set '{shown(name)}'.{nearest(name, shipped())} 'glassformer quiz list' lists them.")
    return parse_set(read_text(path, most_bytes=MOST_BYTES), path.stem)


def parse_set(text: str, name: str) -> QuizSet:
    """Parse a set from the text of its file."""
    document = parse_toml(text, f"{name}.toml")
    unknown = sorted(set(document) - {"name", "title", "about", "question", "mistake"})
    if unknown:
        raise GlassformerError(
            f"{name}.toml: '{shown(unknown[0])}' is not a field: use name, title, about, and [[question]] and [[mistake]] tables."
        )
    name = name_in("name", document.get("name", name))
    tables = document.get("question", [])
    if not isinstance(tables, list) or not 0 < len(tables) <= MOST_QUESTIONS:
        raise GlassformerError(f"{name}.toml: expected 1 to {MOST_QUESTIONS} [[question]] tables.")
    own: dict[str, Mistake] = {}
    declared_mistakes(document.get("mistake", []), own, f"{name}.toml, [[mistake]]")
    questions: list[Template] = []
    for number, table in enumerate(tables, start=1):
        with in_question(f"{name}.toml", number, table):
            declared_mistakes(table.get("mistakes", []) if isinstance(table, Mapping) else [], own)
    for number, table in enumerate(tables, start=1):
        with in_question(f"{name}.toml", number, table):
            questions.append(_question(table, questions, own))
    title, about = text_in("title", document.get("title", name)), text_in("about", document.get("about", ""))
    return QuizSet(name=name, title=title, about=about, questions=tuple(questions), source=text)


def _folder() -> Any:
    return resources.files("glassformer.answers.quiz") / "sets"


def _question(table: Any, earlier: list[Template], own: Mapping[str, Mistake]) -> Template:
    if not isinstance(table, Mapping):
        raise GlassformerError("expected a [[question]] table.")
    known = {*READERS, "option", "mistakes"}
    unknown = sorted(set(table) - known)
    if unknown:
        near = nearest(unknown[0], known) or f" Fields: {listed(sorted(known))}."
        raise GlassformerError(f"'{shown(unknown[0])}' is not a field.{near}")
    if "text" not in table:
        raise GlassformerError("text is missing: write the question.")
    fields = {key: READERS[key](key, table.get(key)) for key in READERS if key in table or key in ("id", "kind")}
    if "mistakes" in table:
        fields["mistakes"] = named_mistakes(table["mistakes"], own)
    if "option" in table:
        fields["options"] = options_in(table["option"], own)
        fields.setdefault("choices", len(fields["options"]))
    first = next((template for template in earlier if template.id == fields.get("same_as")), None)
    if first is not None:
        fields = {"parameters": first.parameters, "where": first.where, "spec": first.spec, "problem": first.problem} | fields
        fields = _own_subject(fields, table)
    template = Template(**fields)
    _check(template, earlier)
    return template


def _own_subject(fields: dict[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a question with shared numbers, without the inherited subject if it has its own."""
    if "option" in table or "answers" in table:
        return fields | {"spec": table.get("spec", ""), "problem": table.get("problem")}
    if "spec" in table or "answer" in table:
        return fields | {"problem": None}
    return fields | {"spec": ""} if "problem" in table else fields


def _check(template: Template, earlier: list[Template]) -> None:
    """Check the fields of a question against each other."""
    ids = {one.id for one in earlier}
    if template.id in ids:
        raise GlassformerError(f"the id '{template.id}' is already used: every question needs its own id.")
    if template.same_as and template.same_as not in {one.id for one in earlier if not one.same_as}:
        raise GlassformerError(f"same_as = '{shown(template.same_as)}' is not an earlier question with its own parameters.")
    for name in template.depends_on:
        if name not in ids:
            raise GlassformerError(f"depends_on '{shown(name)}' is not an earlier question.{nearest(name, ids)}")
    if bool(template.depends_on) != bool(template.carried):
        raise GlassformerError(
            "depends_on and carried must be given together: the earlier answers, and how this one follows from them."
        )
    _check_subject(template)
    if template.proof and template.proof not in EXPERIMENTS:
        raise GlassformerError(f"proof '{shown(template.proof)}' is not an experiment.{nearest(template.proof, EXPERIMENTS)}")
    for name, given in template.parameters.items():
        name_in("parameter", name)
        check_choices(name, given)
    _check_names(template)


def _check_subject(template: Template) -> None:
    quantity = bool(template.answer or template.spec)
    subjects = [quantity, template.problem is not None, bool(template.options or template.answers)]
    if template.options and not template.answers and not any(option.right for option in template.options):
        raise GlassformerError("no option is right: the right one has no code. (Options that are all wrong need answers.)")
    if not template.text or sum(subjects) != 1:
        raise GlassformerError(
            "a question needs a text and one subject: spec and answer, problem and ask, or options or answers."
        )
    if quantity and not template.answer:
        raise GlassformerError('answer is missing: an expression such as answer = "params(ffn, layer=0)".')
    if template.problem is not None and not template.ask:
        raise GlassformerError('ask is missing: which quantity of the problem, as in ask = "weights"?')
    if template.pick not in ("", "largest"):
        raise GlassformerError(f"pick = '{shown(template.pick)}' is not known: use largest.")


def _check_names(template: Template) -> None:
    known = set(template.parameters)
    carried = template.carried if isinstance(template.carried, str) else ""
    used = {name for condition in template.where for relation in comparisons(condition) for name in names_in(relation)}
    used |= names_used(carried) - set(template.depends_on) if carried else set()
    texts = [
        template.text,
        template.spec,
        template.answer,
        *template.hints,
        *template.answers,
        template.because,
        template.problem,
    ]
    texts += [text for option in template.options for text in (option.text, option.what)]
    used |= placeholders([*texts, *(named.gives for named in template.mistakes)])
    for name in sorted(used - known):
        raise GlassformerError(f"'{{{shown(name)}}}' is not a parameter.{nearest(name, known)} Write {{{{ for a brace.")
