"""What the commands share: the words of a spec, and the forms an answer can take."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import click

from glassformer.spec import GlassformerError

Command = TypeVar("Command", bound=Callable[..., Any])


class Answer(Protocol):
    """What a command gives: one JSON document, and something that `show` can present."""

    def to_dict(self) -> dict[str, Any]: ...


def complete_words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Shell completion: presets first, then fields, then the choices of a field."""
    from glassformer.spec import field_rules
    from glassformer.spec.presets import preset_names
    from glassformer.spec.reading import SIZES

    name, equals, start = incomplete.partition("=")
    if equals and name in field_rules():
        return [f"{name}={choice}" for choice in field_rules()[name].choices if choice.startswith(start)]
    fields = [f"{field}=" for field in (*field_rules(), *SIZES)] if ctx.params.get(param.name or "") else []
    return [word for word in (*preset_names(), *fields) if word.startswith(incomplete)]


words_argument = click.argument("words", nargs=-1, metavar="SPEC [field=value …]", shell_complete=complete_words)
as_option = click.option(
    "--as", "as_class", metavar="CLASS", help="Read a Hugging Face config as this class, e.g. BertForMaskedLM."
)


def format_options(command: Command) -> Command:
    """`--json`, `--markdown`, `--latex`, `--html`: one answer, several forms."""
    for form, text in (
        ("html", "An HTML fragment."),
        ("latex", "LaTeX."),
        ("markdown", "Markdown."),
        ("json", "One JSON document on standard output."),
    ):
        command = click.option(f"--{form}", "form", flag_value=form, default=None, help=text)(command)
    return command


def give(result: Answer, form: str | None, extra: dict[str, Any] | None = None, notes: list[str] | None = None) -> None:
    """Print a result in the form asked for; `extra` goes into the JSON, `notes` below the table."""
    if form == "json":
        sys.stdout.write(to_json(result.to_dict() | (extra or {})) + "\n")
        return
    from glassformer.show import present
    from glassformer.show.terminal import show_on_terminal

    view = present(result)
    if form is not None:
        sys.stdout.write(getattr(view, form)() + "\n")
    else:
        show_on_terminal(view)
    for note in notes or []:
        sys.stdout.write(f"{note}\n")


def to_json(document: Any) -> str:
    """JSON that every reader takes: infinities and NaN as words in quotes, never bare."""
    return json.dumps(_plain(document), ensure_ascii=False, allow_nan=False, indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def one_spec(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a spec, or the line that says how to write one."""
    if not words:
        raise GlassformerError(
            "which encoder? Name a preset or a file, as in 'bert-base layers=8'. 'glassformer presets' lists the names."
        )
    return words
