"""The command `glassformer`: finds the sub-command, and turns a user's mistake into one line."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.errors import UnknownFieldError, close_to

# Command -> (module, what it answers). The module is imported when the command is used: `--help` stays quick.
COMMANDS: dict[str, tuple[str, str]] = {
    "count": ("glassformer.cli.algebra", "How many parameters, where, under which convention."),
    "bridge": ("glassformer.cli.algebra", "Why two counts differ, line by line."),
    "shapes": ("glassformer.cli.algebra", "The shape of every tensor."),
    "cost": ("glassformer.cli.algebra", "FLOPs, bytes, the batch that fits."),
    "notation": ("glassformer.cli.algebra", "The forward pass as equations."),
    "algebra": ("glassformer.cli.formula", "The shapes of your own formula, and its traps."),
    "ask": ("glassformer.cli.answers", "The value of an expression, with its convention and derivation."),
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
    "mcp": ("glassformer.cli.mcp", "The commands as tools for an assistant."),
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
        if args and args[0] not in COMMANDS and (not args[0].startswith("-") or args[0] == "-"):
            raise GlassformerError(
                f"unknown command '{shown(args[0])}'.{nearest(args[0], COMMANDS)} 'glassformer --help' lists them."
            )
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _once(command, rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnknownFieldError as error:
            raise _option_meant(self.get_command(ctx, ctx.invoked_subcommand or ""), error) from None
        except BrokenPipeError:  # somebody closed the pipe, `glassformer … | head`, which click would call a failure
            _nobody_reads()
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, doc) for name, (_, doc) in COMMANDS.items()])


def _once(command: click.Command, words: Sequence[str]) -> None:
    """Refuse an option that is given twice, of which the last alone would be heard."""
    if isinstance(command, click.Group):
        inner = command.commands.get(words[0]) if words else None
        return _once(inner, words[1:]) if inner is not None else None
    taking = [param for param in command.params if isinstance(param, click.Option) and not param.is_flag and param.nargs == 1]
    known = {name: param for param in taking for name in param.opts}
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            return None
        if name in known:
            said = value if equals else next(rest, "")
            if name in given and not known[name].multiple:
                raise GlassformerError(f"{name} is given twice, as {shown(given[name])} and as {shown(said)}: give it once.")
            given[name] = said
    return None


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
        fail(_with_way_out(error))
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
    for stream in (sys.stdout, sys.stderr):
        _any_letter(stream)
    try:
        return glassformer.main(standalone_mode=False, prog_name="glassformer")
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _nobody_reads()


def _any_letter(stream: Any) -> None:
    """Our tables have lines and Greek letters, for which no output may fail.

    Where the system claims to know ASCII alone we write UTF-8, as Python itself does in the C locale; elsewhere a letter that
    cannot be written is given by its number.
    """
    if isinstance(stream, io.TextIOWrapper):
        ascii_alone = codecs.lookup(stream.encoding).name == "ascii"
        stream.reconfigure(encoding="utf-8" if ascii_alone else stream.encoding, errors="backslashreplace")


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


# Names that other programs have for our options.
OPTIONS_ELSEWHERE = {"learning_rate": "lr", "num_epochs": "epochs", "num_train_epochs": "epochs", "max_seq_length": "max_length"}


def _options(command: click.Command | None) -> dict[str, str]:
    """Name -> option of a command, `batch_size` -> `--batch-size`, with the names that other programs have for some."""
    params = command.params if command is not None else []
    written = [name for param in params if isinstance(param, click.Option) for name in (*param.opts, *param.secondary_opts)]
    found = {_plain(name): name for name in written if name.startswith("--")}
    return found | {other: found[ours] for other, ours in OPTIONS_ELSEWHERE.items() if ours in found}


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _option_meant(command: click.Command | None, error: UnknownFieldError) -> GlassformerError:
    """What to say of `lr=3`, where `lr` is an option, and of `optimiser=…`, which is near to one."""
    options = _options(command)
    if command is None or error.meant is not None or nearest(error.field, error.known):
        return error
    if error.field in options:
        return GlassformerError(
            f"unknown field '{shown(error.field)}'. It is an option of {command.name}, with dashes: {options[error.field]} …"
        )
    near = close_to(error.field, options)
    hint = f" Did you mean '{options[near]}'?" if near is not None else ""
    way_out = f"{error.way_out.rstrip('.')}, 'glassformer {command.name} --help' the options."
    return GlassformerError(f"unknown field '{shown(error.field)}'.{hint} {way_out}")


def _no_such_option(error: click.NoSuchOption) -> str:
    """What to say of `--layers 3`, the name of a field, and of `--jsn`, which is near to an option."""
    from glassformer.spec import field_rules
    from glassformer.spec.reading import SIZES

    field = _plain(error.option_name)
    if field in field_rules() or field in SIZES:
        return f"no such option '{error.option_name}'. Fields are written after the spec, without dashes: {field}=…"
    options = _options(error.ctx.command if error.ctx is not None else None)
    near = close_to(field, options)
    if near is not None:
        return f"No such option '{shown(error.option_name)}'. Did you mean '{options[near]}'?"
    where = f" '{error.ctx.command_path} --help' says what is taken." if error.ctx is not None else ""
    return f"No such option '{shown(error.option_name)}'.{where}"


def _with_way_out(error: click.ClickException) -> str:
    """What click says, and where to read on of words that the command has no place for or lacks."""
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error)
    plain = type(error) in (click.UsageError, click.MissingParameter)
    if not plain or not isinstance(error, click.UsageError) or error.ctx is None:
        return error.format_message()
    return f"{error.format_message().rstrip('.')}. '{error.ctx.command_path} --help' says what is taken."


def fail(message: str, code: int = 2) -> NoReturn:
    """One line on standard error, and the exit code of a mistake or of what ended a command."""
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("RANK", "0") != "0":
        time.sleep(1)  # torchrun ends all processes when one has ended, and the first of them is to be heard
    else:
        try:
            sys.stderr.write(f"glassformer: {' '.join(message.split())}\n")
            sys.stderr.flush()
        except OSError:  # nobody listens, or its disk is full: the exit code still tells
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.exit(code)
