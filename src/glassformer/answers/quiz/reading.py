"""Reading a set: a TOML file or one of those that ship, every field checked, one line for whatever is wrong."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from glassformer.answers.asked.counting_conventions import GROUPS
from glassformer.answers.quiz import expressions
from glassformer.answers.quiz.draws import check_choices
from glassformer.answers.quiz.misconceptions import check_codes
from glassformer.answers.quiz.template import Kind, QuizSet, Template, Writing, WrittenOption, placeholders
from glassformer.numbers.experiments import EXPERIMENTS
from glassformer.spec import GlassformerError, listed, nearest, shown
from glassformer.spec.files import parse_toml, read_text

MOST_QUESTIONS = 200
MOST_TEXT = 4_000
MOST_BYTES = 1_000_000
TEXTS = ("text", "ask", "spec", "because", "proof", "pick", "same_as")
LISTS = ("hints", "where", "without", "answers", "depends_on", "mistakes")
FRACTIONS = ("marks", "tolerance", "convention_credit")


def shipped() -> list[str]:
    """The sets that ship, by name."""
    return sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def load_set(what: str | Path) -> QuizSet:
    """The set of that name, in that file, or in a folder that `quiz make` wrote."""
    name = str(what)
    if name in shipped():
        return parse_set((_folder() / f"{name}.toml").read_text(encoding="utf-8"), name)
    path = Path(name)
    try:
        path = path / "set.toml" if path.is_dir() else path
        there = path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        there = False
    if not there:
        raise GlassformerError(f"no set '{shown(name)}'.{nearest(name, shipped())} 'glassformer quiz list' lists them.")
    return parse_set(read_text(path, most_bytes=MOST_BYTES), path.stem)


def parse_set(text: str, name: str) -> QuizSet:
    """A set from the text of its file."""
    document = parse_toml(text, f"{name}.toml")
    unknown = sorted(set(document) - {"name", "title", "about", "question"})
    if unknown:
        raise GlassformerError(f"{name}.toml: '{shown(unknown[0])}' is not known: title, about, then [[question]] tables.")
    name = _name(document.get("name", name), "name")
    tables = document.get("question", [])
    if not isinstance(tables, list) or not 0 < len(tables) <= MOST_QUESTIONS:
        raise GlassformerError(f"{name}.toml: from 1 to {MOST_QUESTIONS} [[question]] tables are wanted.")
    questions: list[Template] = []
    for number, table in enumerate(tables, start=1):
        try:
            questions.append(_question(table, questions))
        except GlassformerError as error:
            known = f" ({shown(table['id'])})" if isinstance(table, Mapping) and isinstance(table.get("id"), str) else ""
            raise GlassformerError(f"{name}.toml, question {number}{known}: {error}") from None
    title, about = _text("title", document.get("title", name)), _text("about", document.get("about", ""))
    return QuizSet(name=name, title=title, about=about, questions=tuple(questions), source=text)


def _folder() -> Any:
    return resources.files("glassformer.answers.quiz") / "sets"


def _question(table: Any, earlier: list[Template]) -> Template:
    if not isinstance(table, Mapping):
        raise GlassformerError("a [[question]] table is wanted.")
    known = {field.name for field in dataclasses.fields(Template)} | {"option", "choices"} - {"options"}
    unknown = sorted(set(table) - known)
    if unknown:
        near = nearest(unknown[0], known) or f" Fields: {listed(sorted(known))}."
        raise GlassformerError(f"'{shown(unknown[0])}' is not known.{near}")
    fields: dict[str, Any] = {"id": _name(table.get("id"), "id"), "kind": _choice(table, "kind", get_args(Kind))}
    if "text" not in table:
        raise GlassformerError("text is missing: write what is asked.")
    fields |= {key: _text(key, table[key]) for key in TEXTS if key in table}
    fields |= {key: tuple(_text(key, item) for item in _listed(table[key])) for key in LISTS if key in table}
    fields |= {key: _fraction(key, table[key]) for key in FRACTIONS if key in table}
    fields |= {key: _whole(key, table[key], 0, 9) for key in ("digits", "choices") if key in table}
    if "writing" in table:
        fields["writing"] = _choice(table, "writing", get_args(Writing))
    if "cell" in table:
        fields["cell"] = tuple(_whole("cell", place, 1, 4096) for place in _listed(table["cell"]))
    if "option" in table:
        fields["options"] = _options(table["option"])
        fields.setdefault("choices", len(fields["options"]))
    fields |= _tables(table)
    first = next((template for template in earlier if template.id == fields.get("same_as")), None)
    if first is not None:
        fields = {"parameters": first.parameters, "where": first.where, "spec": first.spec, "problem": first.problem} | fields
        fields = _own_subject(fields, table)
    template = Template(**fields)
    _check(template, earlier)
    return template


def _own_subject(fields: dict[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """A question about the same numbers may be about another thing: what it does not ask with is not taken over."""
    if "option" in table or "answers" in table:
        return fields | {"spec": table.get("spec", ""), "problem": table.get("problem")}
    if "spec" in table:
        return fields | {"problem": None}
    return fields | {"spec": ""} if "problem" in table else fields


def _tables(table: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in ("parameters", "problem"):
        if key in table:
            if not isinstance(table[key], Mapping):
                raise GlassformerError(f"{key} must be a table.")
            found[key] = table[key]
    if "carried" in table:
        rule = table["carried"]
        named = isinstance(rule, Mapping)
        found["carried"] = {str(k): _text("carried", v) for k, v in rule.items()} if named else _text("carried", rule)
    return found


def _options(tables: Any) -> tuple[WrittenOption, ...]:
    if not isinstance(tables, list) or not 1 <= len(tables) <= 8:
        raise GlassformerError("from 1 to 8 [[question.option]] tables are wanted.")
    found = []
    for table in tables:
        if not isinstance(table, Mapping) or set(table) - {"says", "code", "why"} or "says" not in table:
            raise GlassformerError("an option has says, and where it is wrong a code, and perhaps why.")
        found.append(WrittenOption(**{str(key): _text(str(key), value) for key, value in table.items()}))
    if sum(option.right for option in found) > 1:
        raise GlassformerError("one option is right and has no code; every wrong one has the code of its mistake.")
    return tuple(found)


def _check(template: Template, earlier: list[Template]) -> None:
    """What holds between the fields of a question."""
    ids = {one.id for one in earlier}
    if template.id in ids:
        raise GlassformerError(f"the id '{template.id}' is taken: every question needs its own.")
    if template.same_as and template.same_as not in {one.id for one in earlier if not one.same_as}:
        raise GlassformerError(f"same_as = '{shown(template.same_as)}' is no earlier question with parameters of its own.")
    for name in template.depends_on:
        if name not in ids:
            raise GlassformerError(f"depends_on '{shown(name)}' is no earlier question.{nearest(name, ids)}")
    if bool(template.depends_on) != bool(template.carried):
        raise GlassformerError("depends_on and carried go together: which earlier answers, and how this one follows from them.")
    subjects = [bool(template.spec), template.problem is not None, bool(template.options or template.answers)]
    if template.options and not template.answers and not any(option.right for option in template.options):
        raise GlassformerError("no option is right: the right one has no code. (Wrong ones alone go with answers, to be typed.)")
    if not template.text or sum(subjects) != 1:
        raise GlassformerError("a question has a text and one subject: spec and ask, problem and ask, or options or answers.")
    if (template.spec or template.problem is not None) and not template.ask:
        raise GlassformerError('ask is missing: what is asked of it, as in ask = "params of W_O" or ask = "weights"?')
    for name, given in template.parameters.items():
        _name(name, "parameter")
        check_choices(name, given)
    _check_names(template)
    _check_words(template)


def _check_words(template: Template) -> None:
    """Mistakes, parts, experiments and picks that are known."""
    check_codes([*template.mistakes, *(option.code for option in template.options if option.code)])
    for word in template.without:
        if word not in GROUPS:
            raise GlassformerError(f"without '{shown(word)}' is not known.{nearest(word, GROUPS)} Parts: {', '.join(GROUPS)}.")
    if template.proof and template.proof not in EXPERIMENTS:
        raise GlassformerError(f"proof '{shown(template.proof)}' is no experiment.{nearest(template.proof, EXPERIMENTS)}")
    if template.pick not in ("", "largest"):
        raise GlassformerError(f"pick = '{shown(template.pick)}' is not known: largest.")


def _check_names(template: Template) -> None:
    known = set(template.parameters)
    carried = template.carried if isinstance(template.carried, str) else ""
    used = {name for condition in template.where for name in expressions.names_in(condition)}
    used |= expressions.names_in(carried) - set(template.depends_on)
    for condition in template.where if used <= known else ():
        expressions.check_condition(condition, known)
    texts = [template.text, template.spec, *template.hints, *template.answers, template.because, template.problem]
    used |= placeholders([*texts, *(option.says for option in template.options), *(option.why for option in template.options)])
    for name in sorted(used - known):
        raise GlassformerError(f"'{{{shown(name)}}}' is no parameter.{nearest(name, known)} A brace itself is written {{{{.")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(value: Any, field: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,39}", value):
        raise GlassformerError(f"{field} = {shown(value)}: a short name of letters, digits, - and _ is wanted.")
    return value


def _text(field: str, value: Any) -> str:
    """A text of bounded length without control characters; line breaks stay."""
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise GlassformerError(f"{field} must be a text of at most {MOST_TEXT:,} characters, found {shown(value)}.")
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in value).strip()


def _fraction(field: str, value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1000:
        raise GlassformerError(f"{field} = {shown(value)}: a number from 0 to 1,000 is wanted.")
    if field == "convention_credit" and value > 1:
        raise GlassformerError("convention_credit is a share of the marks, from 0 to 1.")
    return Fraction(repr(value))


def _whole(field: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise GlassformerError(f"{field} = {shown(value)}: a whole number from {least} to {most} is wanted.")
    return value


def _choice(table: Mapping[str, Any], field: str, choices: tuple[str, ...]) -> str:
    value = table.get(field)
    if value not in choices:
        near = nearest(str(value), choices)
        raise GlassformerError(f"{field} = {shown(value)} is not known: one of {', '.join(choices)}.{near}")
    return str(value)
