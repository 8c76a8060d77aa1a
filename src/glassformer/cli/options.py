"""Shared options and arguments of the commands, and the output formats of results."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from glassformer.errors import GlassformerError, nearest

Command = TypeVar("Command", bound=Callable[..., Any])


class Answer(Protocol):
    """The result of a command: convertible to JSON, and presentable by `show`."""

    def to_dict(self) -> dict[str, Any]: ...


def complete_words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete presets first, then fields, then the choices of a field."""
    from glassformer.configs.presets import preset_names
    from glassformer.configs.reading import SIZES
    from glassformer.spec import field_rules

    name, equals, start = incomplete.partition("=")
    if equals and name in field_rules():
        return [f"{name}={choice}" for choice in field_rules()[name].choices if choice.startswith(start)]
    fields = [f"{field}=" for field in (*field_rules(), *SIZES)] if ctx.params.get(param.name or "") else []
    return [word for word in (*preset_names(), *fields) if word.startswith(incomplete)]


words_argument = click.argument("words", nargs=-1, metavar="SPEC [field=value …]", shell_complete=complete_words)
as_option = click.option(
    "--as", "as_class", metavar="CLASS", help="Read a Hugging Face config as this class, e.g. BertForMaskedLM."
)


def input_options(command: Command) -> Command:
    """Add the options for the input of a run: a text, token ids, an image or audio, and what a decoder reads."""
    options = [
        click.option("--text", help="Input text (split by the checkpoint's tokenizer; a spec without one splits it into words)."),
        click.option("--tokens", metavar="IDS", help="Input as token ids: 101,7592,102."),
        click.option("--picture", metavar="FILE", help="Input image, for an image encoder."),
        click.option("--frames", metavar="FILE", help="Input of an audio encoder: an .npy file, [mel, frame]."),
        click.option(
            "--target",
            metavar="TEXT",
            help="Target text, the decoder input of an encoder-decoder; for a checkpoint, the start token is added.",
        ),
        click.option("--target-tokens", metavar="IDS", help="Target as token ids, without adding special tokens: 2,17,5."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


class OneOf(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """A choice that suggests the closest match for an unknown value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise click.BadParameter(f"{error.message}{nearest(str(value), self.choices)}", ctx, param) from None


def choice_option(name: str, *choices: str, help: str) -> Callable[[Command], Command]:
    """An option with these choices, of which the first is the default, shown in the help."""
    return click.option(name, type=OneOf(choices), default=choices[0], show_default=True, help=help)


class Named(click.Path):
    """An output path. Refuses an empty name (`--out "$UNSET"`), which would mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            raise GlassformerError(f"{param.opts[0] if param else 'the name'} is empty: give a name, or leave it out.")
        return super().convert(value, param, ctx)


FORMS = {
    "json": "Print one JSON document.",
    "markdown": "Print Markdown.",
    "latex": "Print LaTeX.",
    "html": "Print an HTML fragment.",
}


def format_options(command: Command) -> Command:
    """Add `--json`, `--markdown`, `--latex` and `--html`."""
    return forms(FORMS)(command)


def forms(known: Mapping[str, str]) -> Callable[[Command], Command]:
    """Add one flag per output format. At most one may be given; the command receives its name, or None, as `form`."""

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
    """Print a result in the requested format; `extra` is added to the JSON, `notes` are printed below the table."""
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
    """Serialize to strict JSON; infinities and NaN become strings."""
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
    """Return the words of a spec; raise an error that shows the syntax if there are none."""
    if not words:
        raise GlassformerError(
            "no spec is given: name a preset or a file, as in 'bert-base layers=8'. 'glassformer presets' lists the presets."
        )
    return words


def _allow_download(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta["download"] = value


def fetched(name: Any) -> Any:
    """Return a model folder; with --download, a name that is not a local path is fetched from the hub first."""
    import glassformer as gf

    if name is None or not click.get_current_context().meta.get("download") or Path(name).exists():
        return name
    return gf.download(str(name))


download_option = click.option(
    "--download",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_allow_download,
    help="Download a model named owner/name from the Hugging Face hub, unless it is in the cache.",
)


def model_argument(name: str, **settings: Any) -> Callable[[Command], Command]:
    """Add the argument for a model folder, and the option --download."""

    def read(_: click.Context, __: click.Parameter, value: Any) -> Any:
        found = fetched(value)
        return found if found is None else Path(found)

    def decorated(command: Command) -> Command:
        return click.argument(name, type=click.Path(path_type=Path), callback=read, **settings)(download_option(command))

    return decorated
