"""What the commands share: the words of a spec, and the forms an answer can take."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import click

from glassformer.spec import GlassformerError, nearest

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


class OneOf(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """One of a few words; of a word that is none of them, the nearest is named."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise click.BadParameter(f"{error.message}{nearest(str(value), self.choices)}", ctx, param) from None


class Named(click.Path):
    """Where something is written. An empty name, `--out "$FORGOTTEN"`, would be the current folder, which nobody means."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            raise GlassformerError(f"{param.opts[0] if param else 'the name'} is empty: give a name, or leave it out.")
        return super().convert(value, param, ctx)


FORMS = {
    "json": "One JSON document on standard output.",
    "markdown": "Markdown.",
    "latex": "LaTeX.",
    "html": "An HTML fragment.",
}


def format_options(command: Command) -> Command:
    """`--json`, `--markdown`, `--latex`, `--html`: one answer, several forms."""
    return forms(FORMS)(command)


def forms(known: Mapping[str, str]) -> Callable[[Command], Command]:
    """An option for each form, of which one at most is given: the command gets its name as `form`, or None."""

    def chosen(ctx: click.Context, option: click.Parameter, given: bool) -> None:
        before = ctx.params.setdefault("form", None)
        if given and before is not None:
            raise GlassformerError(f"--{before} and --{option.name} are both given: choose one.")
        if given:
            ctx.params["form"] = option.name

    def decorated(command: Command) -> Command:
        for form, text in reversed(list(known.items())):
            command = click.option(f"--{form}", is_flag=True, expose_value=False, callback=chosen, help=text)(command)
        return command

    return decorated


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
