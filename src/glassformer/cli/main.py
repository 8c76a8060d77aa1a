"""The command `glassformer`: finds the sub-command, and turns a user's mistake into one line."""

from __future__ import annotations

import errno
import os
import sys
import time
from importlib import import_module
from typing import Any, NoReturn

import click

from glassformer.spec import GlassformerError, nearest, shown

# Command -> (module, what it answers). The module is imported when the command is used: `--help` stays quick.
COMMANDS: dict[str, tuple[str, str]] = {
    "count": ("glassformer.cli.algebra", "How many parameters, where, under which convention."),
    "bridge": ("glassformer.cli.algebra", "Why two counts differ, line by line."),
    "shapes": ("glassformer.cli.algebra", "The shape of every tensor."),
    "cost": ("glassformer.cli.algebra", "FLOPs, bytes, the batch that fits."),
    "notation": ("glassformer.cli.algebra", "The forward pass as equations."),
    "algebra": ("glassformer.cli.formula", "The shapes of your own formula, and its traps."),
    "ask": ("glassformer.cli.answers", "Any quantity, with its convention and derivation."),
    "check": ("glassformer.cli.answers", "Right, right under a convention, or the mistake."),
    "quiz": ("glassformer.cli.quiz", "Problem sets: make, take and grade them."),
    "work": ("glassformer.cli.work", "A problem worked by hand, every step."),
    "presets": ("glassformer.cli.presets", "What can be named."),
    "explain": ("glassformer.cli.numbers", "One number, down to its arithmetic."),
    "attention": ("glassformer.cli.attention", "A picture of who attends to whom."),
    "experiment": ("glassformer.cli.experiment", "A textbook's sentence, tried on real arithmetic."),
    "verify": ("glassformer.cli.model", "The certificate that a load is right."),
    "encode": ("glassformer.cli.model", "Texts as vectors, any number of them."),
    "predict": ("glassformer.cli.model", "Classes with probabilities."),
    "export": ("glassformer.cli.model", "A checkpoint in other forms: a folder, ONNX."),
    "data": ("glassformer.cli.data", "Built-in sets, and a look into your own data."),
    "train": ("glassformer.cli.training", "Train an encoder, with curves and checkpoints."),
    "resume": ("glassformer.cli.training", "Go on with a run, bit for bit."),
    "curves": ("glassformer.cli.training", "Loss and accuracy of runs, side by side."),
    "lab": ("glassformer.cli.lab", "The browser: five pages, every number a door."),
    "report": ("glassformer.cli.report", "One file about an encoder or a run, to open in a browser."),
    "completion": ("glassformer.cli.presets", "The script that completes commands in your shell."),
    "tour": ("glassformer.cli.tour", "A walk through all of it, on built-in data."),
}

EPILOG = """\b
A spec is a preset, a TOML or JSON file, a config.json or the folder that holds one, then fields:
  glassformer count bert-base layers=8 heads=8 vocab=40000
  glassformer shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns
  glassformer cost bert-base batch=8 t=512 --train --fit 24GB

Exit 0: fine. Exit 2: a mistake in what was asked, said in one line. Exit 1: a check that failed."""


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class LazyGroup(click.Group):
    """Sub-commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise GlassformerError(
                f"unknown command '{shown(args[0])}'.{nearest(args[0], COMMANDS)} 'glassformer --help' lists them."
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # somebody closed the pipe, `glassformer … | head`, which click would call a failure
            _nobody_reads()
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, doc) for name, (_, doc) in COMMANDS.items()])


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="glassformer", message="%(prog)s %(version)s")
@click.pass_context
def glassformer(ctx: click.Context) -> None:
    """Describe any Transformer encoder in a few words, and see what it computes, what it costs and whether a number is right."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line: exit 2 and one line for a mistake of the user's, and never a traceback for one."""
    try:
        code = _run()
    except GlassformerError as error:
        fail(str(error), error.code)
    except click.ClickException as error:
        fail(_field_meant(error) or _with_way_out(error))
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("glassformer: stopped.\n")
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        fail("this needs PyTorch, which is not installed: pip install 'glassformer[torch]'.")
    except OSError as error:  # what the system says of a file: a name too long for it, a folder that may not be read, a full disk
        line = _said_by_the_system(error)
        if line is None:
            raise
        fail(line)
    sys.exit(code if isinstance(code, int) else 0)


def _run() -> Any:
    """The command, and what it wrote out of our hands: a full disk may say so only now."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever called, `>&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115, PTH123  as long as the process
    try:
        return glassformer.main(standalone_mode=False, prog_name="glassformer")
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _nobody_reads()


def _said_by_the_system(error: OSError) -> str | None:
    """A file that it will not give, or output that it will not take; anything else is our mistake."""
    if error.filename is not None:
        return f"{shown(str(error.filename))}: {error.strerror or error}."
    if error.errno not in FULL:
        return None
    _nobody_reads()
    return f"standard output cannot be written: {error.strerror}. Free some space, or send it elsewhere."


def _nobody_reads() -> None:
    """What is left to be written goes nowhere, or Python would complain about it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _field_meant(error: click.ClickException) -> str | None:
    """What to say of `--layers 3`: an option that is none, and has the name of a field."""
    if not isinstance(error, click.NoSuchOption):
        return None
    from glassformer.spec import field_rules
    from glassformer.spec.reading import SIZES

    field = error.option_name.lstrip("-").replace("-", "_")
    known = field in field_rules() or field in SIZES
    return (
        f"no such option '{error.option_name}'. Fields are written after the spec, without dashes: {field}=…" if known else None
    )


def _with_way_out(error: click.ClickException) -> str:
    """What click says, and where to read on of words that the command has no place for or lacks."""
    plain = type(error) in (click.UsageError, click.MissingParameter) or (
        isinstance(error, click.NoSuchOption) and not error.possibilities
    )
    if not plain or not isinstance(error, click.UsageError) or error.ctx is None:
        return error.format_message()
    return f"{error.format_message().rstrip('.')}. '{error.ctx.command_path} --help' says what is taken."


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on standard error, and the exit code of a mistake or of what ended a command."""
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("RANK", "0") != "0":
        time.sleep(1)  # torchrun ends all processes when one has ended, and the first of them is to be heard
    else:
        sys.stderr.write(f"glassformer: {' '.join(message.split())}\n")
    sys.exit(code)
