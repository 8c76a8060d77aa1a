"""The training commands: train, resume, curves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from glassformer.cli.data import complete_sets, rows_options, target_option, task_option
from glassformer.cli.options import Named, OneOf, download_option, fetched, to_json
from glassformer.cli.processes import one_voice
from glassformer.configs.reading import is_there, split_words
from glassformer.show.curves import curves_table
from glassformer.show.terminal import show_on_terminal

if TYPE_CHECKING:
    from glassformer.training.result import Trained, TrainedRuns

Command = TypeVar("Command", bound=Callable[..., Any])


def setting_options(*, free: bool = False) -> Callable[[Command], Command]:
    """Add one option per training setting; with `free`, only the settings that may change on resume."""
    from glassformer.training.settings import FREE, setting_rules

    def add(command: Command) -> Command:
        for name, rule in reversed(setting_rules().items()):
            if (name == "epochs" and not free) or (free and name not in FREE):
                continue
            kind = OneOf(rule.choices) if rule.choices else SettingValue(name, rule.kind)
            default = "" if free else f" [default: {'none' if rule.default is None else rule.default}]"
            help_text = f"{rule.doc[0].upper()}{rule.doc[1:]}.{default}"
            option = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=help_text)
            command = option(command)
        return command

    return add


class SettingValue(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A value, or `none` for a setting that can be disabled (click passes None for options that were not given)."""

    def __init__(self, setting: str, kind: type) -> None:
        self.setting, self.name = setting, "names" if kind is str else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from glassformer.training.settings import setting_rules

        number = setting_rules()[self.setting].read(self.setting, value)
        return "none" if number is None else number


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, as settings."""
    return {name: None if value == "none" else value for name, value in options.items() if value is not None}


log_to = click.option(
    "--log-to",
    metavar="json|tensorboard|wandb[,…]",
    help="Also log to: json (standard output, one object per line), tensorboard (RUN/tensorboard), wandb (RUN/wandb, offline).",
)


@click.command()
@click.argument("data", shell_complete=complete_sets)
@click.argument("words", nargs=-1, metavar="[SPEC|CHECKPOINT] [field=value …]")
@click.option(
    "--epochs",
    metavar="N[,N…]",
    help="Number of epochs; a list trains one run for each. [default: 10, or 3 from a checkpoint]",
)
@click.option("--out", type=Named(), metavar="RUN", help="Run folder. [default: runs/DATA-1, -2, …]")
@rows_options(no_label="Treat the data as plain text: an encoder is trained on masked tokens.")
@target_option
@task_option
@log_to
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@download_option
@setting_options()
@one_voice
def train(data: str, words: tuple[str, ...], as_json: bool, no_label: bool, **options: Any) -> None:
    """Train a model on a built-in dataset or your own data; everything is written to a run folder.

    Without a SPEC, a small model is chosen for the data; fields change it. An encoder learns labels or masked tokens, a decoder
    (gpt2) the next token of each text, an encoder-decoder (transformer) translations. A CHECKPOINT is a folder with weights, or
    a run: training starts from its weights, with its tokenizer and a new head. Ctrl-C saves and stops; 'resume' continues.

    \b
    glassformer train digits --epochs 5
    glassformer train topic d_model=256 layers=4 --epochs 10,30,50 --out runs/topic
    glassformer train reviews.csv --text review --label stars
    glassformer train topic models/minilm --epochs 3
    glassformer train topic models/minilm --train-only head
    glassformer train topic models/minilm --lora 8
    glassformer train texts.txt gpt2 layers=2 d_model=128 heads=4
    glassformer train pairs.tsv transformer d_model=256 layers=3 --text en --target fr
    """
    import glassformer as gf

    named = bool(words) and ("=" not in words[0] or is_there(words[0]))
    ((name, fields),) = split_words(words if named else ["small", *words], count=1)
    reading = {"label": None} if no_label else {}
    result = gf.train(data, fetched(name) if named else None, fields=fields, **given(options) | reading)
    _give(result, options, as_json=as_json)


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--data", metavar="PATH", help="New location of the data, if it was moved; the content must be the same.")
@log_to
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@setting_options(free=True)
@one_voice
def resume(run: str, as_json: bool, **options: Any) -> None:
    """Resume a run that was stopped or killed; the result is bit for bit that of an uninterrupted run.

    Settings given here apply from the next step on. After a NaN or infinite loss, try a smaller --lr.

    \b
    glassformer resume runs/topic-1
    glassformer resume runs/topic-1 --lr 1e-4
    """
    import glassformer as gf

    _give(gf.resume(run, **given(options)), options, as_json=as_json)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--out", type=Named(), metavar="FILE", help="Save the picture as FILE.png or FILE.svg.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def curves(runs: tuple[str, ...], out: str | None, as_json: bool) -> None:
    """Compare the loss and accuracy of one or more runs, and show where the validation loss starts to rise.

    \b
    glassformer curves runs/topic-1
    glassformer curves runs/topic/epochs-10 runs/topic/epochs-50 --out compared.png
    """
    import glassformer as gf
    from glassformer.show.figures import check_format

    if out is not None:
        check_format(out)
    found = gf.curves(*runs)
    if out is not None:
        gf.save_picture(found, out)
    if as_json:
        sys.stdout.write(to_json(found.to_dict()) + "\n")
        return
    show_on_terminal(curves_table(found.curves))
    if out is not None:
        sys.stdout.write(f"picture: {out}\n")


def _give(result: Trained | TrainedRuns, options: dict[str, Any], *, as_json: bool) -> None:
    if "json" in (options["log_to"] or ""):  # the last line of the log has the result
        return
    if as_json:
        sys.stdout.write(to_json(result.to_dict()) + "\n")
        return
    show_on_terminal(curves_table(result.curves))
    for line in result.lines():
        sys.stdout.write(f"{line}\n")
