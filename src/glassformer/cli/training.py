"""Commands of training: train, resume, curves."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from glassformer.cli.data import complete_sets, rows_options
from glassformer.cli.options import Named, OneOf, to_json
from glassformer.cli.processes import made_by_first, one_voice
from glassformer.spec import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.training.runs import Run

Command = TypeVar("Command", bound=Callable[..., Any])


def setting_options(*, free: bool = False) -> Callable[[Command], Command]:
    """An option a setting, with its doc; `free`: only those that a run may change while it goes on."""
    from glassformer.training.settings import FREE, setting_rules

    def add(command: Command) -> Command:
        for name, rule in reversed(setting_rules().items()):
            if (name == "epochs" and not free) or (free and name not in FREE):
                continue
            kind = OneOf(rule.choices) if rule.choices else SettingNumber(name)
            default = "" if free else f" [default: {'none' if rule.default is None else rule.default}]"
            help_text = f"{rule.doc[0].upper()}{rule.doc[1:]}.{default}"
            option = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=help_text)
            command = option(command)
        return command

    return add


class SettingNumber(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A number, or `none` where a setting can be off."""

    name = "number"

    def __init__(self, setting: str) -> None:
        self.setting = setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from glassformer.training.settings import setting_rules

        rule = setting_rules()[self.setting]
        try:
            number = "none" if rule.optional and value == "none" else rule.kind(value)
        except ValueError:
            raise GlassformerError(f"{self.setting}={shown(value)} is not allowed: {rule.words()}.") from None
        if number != "none":
            rule.check(self.setting, number)
        return number


@click.command()
@click.argument("data", shell_complete=complete_sets)
@click.argument("words", nargs=-1, metavar="[SPEC|CHECKPOINT] [field=value …]")
@click.option(
    "--epochs",
    metavar="N[,N…]",
    help="Passes over the data; several: a run each. [default: 10; of a checkpoint's weights 3]",
)
@click.option("--out", type=Named(), metavar="RUN", help="The run folder. [default: runs/DATA-1, -2, …]")
@rows_options(no_label="Plain text: learn to guess masked tokens.")
@click.option("--tensorboard", is_flag=True, help="Write the numbers for TensorBoard, too, into RUN/tensorboard.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@setting_options()
@one_voice
def train(
    data: str, words: tuple[str, ...], epochs: str | None, out: str | None, tensorboard: bool, as_json: bool, **options: Any
) -> None:
    """Train an encoder on built-in data or your own; the run folder holds all that came of it.

    Without a SPEC a small encoder is chosen from the data; fields change it. A CHECKPOINT is a folder with weights, or a run:
    training goes on from its weights, with its tokenizer and a fresh head. Ctrl-C saves and stops: 'resume' goes on.

    \b
    glassformer train digits --epochs 5
    glassformer train topic d_model=256 layers=4 --epochs 10,30,50 --out runs/topic
    glassformer train reviews.csv --text review --label stars
    glassformer train topic models/minilm --epochs 3
    glassformer train topic models/minilm --train-only head
    """
    _let_threads_sleep()
    counts = [] if epochs is None else several_epochs(epochs)
    source = {name: options.pop(name) for name in ("text", "label", "resize", "split")}
    source |= {"what": data, "on_bad": "skip" if options.pop("skip_bad") else "refuse"}
    source |= {"label": None} if options.pop("no_label") else {}
    settings: dict[str, Any] = {name: None if value == "none" else value for name, value in options.items() if value is not None}
    from glassformer.training.data import SETS, load_data
    from glassformer.training.settings import Settings

    Settings(**settings)  # a mistake is said before anything is read
    _check_tensorboard(asked=tensorboard)
    from glassformer.cli.training_runs import all_runs, names_checkpoint
    from glassformer.training.starting import check_train_only

    checkpoint, only = names_checkpoint(words), settings.get("train_only", "all")
    check_train_only(only, checkpoint=checkpoint)
    source["what"] = data if data in SETS or not Path(data).exists() else str(Path(data).absolute())
    rows = load_data(data, **{name: value for name, value in source.items() if name != "what"})
    sys.stderr.writelines(f"note: {note}\n" for note in rows.notes)
    from glassformer.training.distributed.processes import from_first
    from glassformer.training.fitting import suggested
    from glassformer.training.runs import next_name

    made = Settings(**suggested(rows, checkpoint=checkpoint, only=only) | settings)
    counts = counts or [made.epochs]
    path = Path(out) if out is not None else from_first(lambda: next_name(data))
    made_above(path)
    results = all_runs(rows, source, words, made.replace(epochs=counts[0]), counts, path, tensorboard=tensorboard)
    _give(results, as_json=as_json)


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--data", "moved", metavar="PATH", help="Where the data lies now, if it was moved; it must be the same.")
@click.option("--tensorboard", is_flag=True, help="Write the numbers for TensorBoard, too, into RUN/tensorboard.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@setting_options(free=True)
@one_voice
def resume(run: str, moved: str | None, tensorboard: bool, as_json: bool, **options: Any) -> None:
    """Go on with a run that was stopped or killed, bit for bit as if nothing had happened.

    Settings that are given here are changed from this step on; after a loss that is no number, a smaller --lr helps.

    \b
    glassformer resume runs/topic-1
    glassformer resume runs/topic-1 --lr 1e-4
    """
    _let_threads_sleep()
    from glassformer.training.data import load_data
    from glassformer.training.runs import Run

    _check_tensorboard(asked=tensorboard)
    found = Run.open(run)
    changed = {name: None if value == "none" else value for name, value in options.items() if value is not None}
    source = found.about["data"]["source"]
    try:
        rows = load_data(**source | ({} if moved is None else {"what": moved}))
    except GlassformerError as error:
        raise GlassformerError(f"cannot resume, its data cannot be read: {error} If it was moved: --data PATH.") from None
    from glassformer.cli.training_runs import one_run
    from glassformer.training.loop import check_data

    check_data(found, rows)  # before anything in the folder changes
    if changed:
        found = made_by_first(lambda: _changed(found, changed))

    _give([one_run(found, rows, tensorboard=tensorboard)], as_json=as_json)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--out", type=Named(), metavar="FILE", help="The picture, as FILE.png or FILE.svg.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def curves(runs: tuple[str, ...], out: str | None, as_json: bool) -> None:
    """Loss and accuracy of one or several runs on shared axes, and where the validation loss turned.

    \b
    glassformer curves runs/topic-1
    glassformer curves runs/topic/epochs-10 runs/topic/epochs-50 --out compared.png
    """
    from glassformer.show.curves import curves_table, read_curve, save_curves, told_apart
    from glassformer.show.figures import check_format
    from glassformer.show.terminal import show_on_terminal

    if out is not None:
        check_format(out)
    paths = [run for name in runs for run in _runs_meant(name)]
    found = [read_curve(run, name) for run, name in zip(paths, told_apart(paths), strict=True)]
    if out is not None:
        save_curves(found, out)
    if as_json:
        sys.stdout.write(to_json([curve.to_dict() for curve in found]) + "\n")
        return
    show_on_terminal(curves_table(found))
    if out is not None:
        sys.stdout.write(f"picture: {out}\n")


def _runs_meant(name: str) -> list[Path]:
    """A run; of a folder that holds several, all of them that have a log."""
    from glassformer.show.curves import runs_in

    path = Path(name)
    if path.is_dir() and not (path / "metrics.jsonl").exists():
        inside = [run for run in runs_in(path) if (run / "metrics.jsonl").exists()]
        return inside or [path]
    return [path]


def made_above(path: Path) -> None:
    """Make the folders above a run, or say why they cannot be made."""
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise GlassformerError(f"--out {shown(str(path))}: its folder cannot be made: {why}. Choose another.") from None


def epochs_done(run: Run) -> int:
    """Epochs that stand in the log of a run."""
    from glassformer.show.curves import read_curve

    try:
        return len(read_curve(run.path).epochs)
    except GlassformerError:
        return 0


def _changed(run: Run, settings: dict[str, Any]) -> Run:
    if (fewer := settings.get("epochs")) is not None and fewer < (done := epochs_done(run)):
        raise GlassformerError(f"epochs={fewer} is not allowed: {done} are done in {shown(str(run.path))}. Give {done} or more.")
    with run.locked():
        return run.with_settings(**settings)


def _let_threads_sleep() -> None:
    """Threads that wait for others sleep instead of spinning: on a machine that is busy, spinning took ten times as long.

    It is read when torch is loaded, and what was set by hand stays.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _check_tensorboard(*, asked: bool) -> None:
    if asked:
        from glassformer.training.loggers import TensorBoard

        TensorBoard(Path())  # where its package is missing, this says so before anything is done


def several_epochs(text: str) -> list[int]:
    """`50` or `10,30,50`."""
    words = text.split(",")
    if len(words) > 20 or not all(len(word) < 8 and word.isdecimal() and int(word) for word in words):
        raise GlassformerError(f"--epochs {shown(text)} is not allowed: a whole number from 1, or several as in 10,30,50.")
    counts = [int(word) for word in words]
    if twice := next((count for count in counts if counts.count(count) > 1), None):
        raise GlassformerError(f"--epochs {shown(text)} names {twice} twice: each number of epochs is a run of its own.")
    return counts


def _give(results: list[dict[str, Any]], *, as_json: bool) -> None:
    from glassformer.show.curves import curves_table, read_curve
    from glassformer.show.terminal import show_on_terminal

    found = [read_curve(result["run"]) for result in results]
    if as_json:
        several = {"runs": results, "comparison": [curve.to_dict() for curve in found]}
        sys.stdout.write(to_json(results[0] if len(results) == 1 else several) + "\n")
        return
    show_on_terminal(curves_table(found))
    for result in results:
        test, best = result["test"], result["best"]
        sys.stdout.write(f"test accuracy {test['accuracy']:.1%} (epoch {best['epoch']}, the best); run: {result['run']}\n")
    if len(results) > 1:
        sys.stdout.write(f"compared: {Path(results[0]['run']).parent / 'curves.png'}, comparison.md, comparison.json\n")
