"""The `glassformer` command: finds the subcommand and reports user errors in one line."""

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

from glassformer.errors import GlassformerError, UnknownFieldError, close_to, nearest, shown

# Command -> (module, help line). Modules are imported on first use, so that `--help` stays fast.
COMMANDS: dict[str, tuple[str, str]] = {
    "count": ("glassformer.cli.algebra", "Count parameters, by part and convention."),
    "bridge": ("glassformer.cli.algebra", "Explain why two parameter counts differ, line by line."),
    "shapes": ("glassformer.cli.algebra", "Show the shape of every tensor."),
    "cost": ("glassformer.cli.algebra", "Estimate FLOPs, memory and the largest batch that fits."),
    "notation": ("glassformer.cli.algebra", "Write the forward pass as equations."),
    "card": ("glassformer.cli.cards", "Write a model card: figures of a checkpoint, a config or a preset."),
    "compare": ("glassformer.cli.cards", "Compare several models side by side."),
    "algebra": ("glassformer.cli.formula", "Check the shapes of your own formula."),
    "ask": ("glassformer.cli.answers", "Evaluate an expression, with its convention and derivation."),
    "check": ("glassformer.cli.answers", "Check a claim: right, right under a convention, or the likely mistake."),
    "quiz": ("glassformer.cli.quiz", "Make, take and grade problem sets."),
    "work": ("glassformer.cli.work", "Work a problem by hand, step by step."),
    "presets": ("glassformer.cli.presets", "List presets and spec fields."),
    "explain": ("glassformer.cli.numbers", "Trace one number down to its arithmetic."),
    "attention": ("glassformer.cli.attention", "Show attention weights as text, a picture or a page."),
    "attribute": ("glassformer.cli.insight", "Write one number as a sum of contributions."),
    "saliency": ("glassformer.cli.interventions", "Score the tokens of a text by gradients or rollout."),
    "ablate": ("glassformer.cli.interventions", "Silence each head, FFN and layer on labelled data."),
    "lens": ("glassformer.cli.interventions", "Apply the head to each layer (logit lens)."),
    "patch": ("glassformer.cli.interventions", "Copy activations of one text into the run of another."),
    "probe": ("glassformer.cli.interventions", "Fit a linear probe on each layer."),
    "experiment": ("glassformer.cli.experiment", "Test a textbook claim numerically."),
    "verify": ("glassformer.cli.model", "Verify that a checkpoint is loaded correctly."),
    "encode": ("glassformer.cli.model", "Encode texts as vectors."),
    "predict": ("glassformer.cli.model", "Predict classes, tags or masked tokens."),
    "generate": ("glassformer.cli.generate", "Continue texts with a decoder."),
    "translate": ("glassformer.cli.translate", "Translate texts with an encoder-decoder."),
    "evaluate": ("glassformer.cli.evaluate", "Evaluate a model on data, with intervals."),
    "export": ("glassformer.cli.model", "Export a checkpoint to a folder or to ONNX."),
    "serve": ("glassformer.cli.serve", "Serve embeddings over HTTP (OpenAI-compatible API)."),
    "data": ("glassformer.cli.data", "List built-in datasets or inspect your own data."),
    "train": ("glassformer.cli.training", "Train a model, with curves and checkpoints."),
    "resume": ("glassformer.cli.training", "Resume a run; the result is identical bit for bit."),
    "curves": ("glassformer.cli.training", "Compare the learning curves of runs."),
    "mcp": ("glassformer.cli.mcp", "Serve the commands as tools for an AI assistant (MCP)."),
    "lab": ("glassformer.cli.lab", "Open the interactive lab in the browser."),
    "report": ("glassformer.cli.report", "Write an HTML report about an encoder or a run."),
    "completion": ("glassformer.cli.presets", "Print the shell completion script."),
    "tour": ("glassformer.cli.tour", "Run a tour of all features on built-in data."),
}

EPILOG = """\b
A SPEC is a preset, a TOML or JSON file, a config.json or its folder, followed by fields:
  glassformer count bert-base layers=8 heads=8 vocab=40000
  glassformer shapes layer d_model=64 heads=2 d_k=32 d_v=16 t=32 --columns
  glassformer cost bert-base batch=8 t=512 --train --fit 24GB

Exit codes: 0 success, 1 a check failed, 2 invalid input (explained in one line)."""


DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class LazyGroup(click.Group):
    """A command group that imports its subcommands on first use."""

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
            _refuse_repeated_options(command, rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnknownFieldError as error:
            raise _suggest_option(self.get_command(ctx, ctx.invoked_subcommand or ""), error) from None
        except BrokenPipeError:  # the reader closed the pipe (`glassformer … | head`); click would report a failure
            _discard_stdout()
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, doc) for name, (_, doc) in COMMANDS.items()])


def _refuse_repeated_options(command: click.Command, words: Sequence[str]) -> None:
    """Refuse an option that is given twice: click would silently use the last one."""
    if isinstance(command, click.Group):
        inner = command.commands.get(words[0]) if words else None
        return _refuse_repeated_options(inner, words[1:]) if inner is not None else None
    valued = [param for param in command.params if isinstance(param, click.Option) and not param.is_flag and param.nargs == 1]
    known = {name: param for param in valued for name in param.opts}
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            return None
        if name in known:
            text = value if equals else next(rest, "")
            if name in given and not known[name].multiple:
                raise GlassformerError(f"{name} is given twice, as {shown(given[name])} and as {shown(text)}: give it once.")
            given[name] = text
    return None


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="glassformer", message="%(prog)s %(version)s")
@click.pass_context
def glassformer(ctx: click.Context) -> None:
    """Parameters, shapes, cost, numbers and training of Transformer models, from a short description."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line. A user error exits with code 2 and one line, never with a traceback."""
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
    except OSError as error:  # e.g. a file name that is too long, a folder without read permission, a full disk
        line = _system_error_line(error)
        if line is None:
            raise
        fail(line)
    sys.exit(code if isinstance(code, int) else 0)


def _run() -> Any:
    """Run the command and flush its output: a full disk may be reported only then."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, `>&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115, PTH123  as long as the process
    for stream in (sys.stdout, sys.stderr):
        _accept_all_characters(stream)
    try:
        return glassformer.main(standalone_mode=False, prog_name="glassformer")
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _discard_stdout()


def _accept_all_characters(stream: Any) -> None:
    """Make sure that box-drawing characters and Greek letters in tables never raise an encoding error.

    On an ASCII-only stream we write UTF-8, as Python does in the C locale; on others, characters that cannot be encoded are
    written as escapes.
    """
    if isinstance(stream, io.TextIOWrapper):
        ascii_only = codecs.lookup(stream.encoding).name == "ascii"
        stream.reconfigure(encoding="utf-8" if ascii_only else stream.encoding, errors="backslashreplace")


def _system_error_line(error: OSError) -> str | None:
    """One line for a file that cannot be accessed or output that cannot be written; None for any other error (a bug)."""
    if error.filename is not None:
        return f"{shown(str(error.filename))}: {error.strerror or error}."
    if error.errno not in DISK_FULL:
        return None
    _discard_stdout()
    return f"standard output cannot be written: {error.strerror}. Free some space or redirect the output."


def _discard_stdout() -> None:
    """Redirect standard output to /dev/null, so that Python does not report an error when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Names of our options in other programs.
OPTIONS_ELSEWHERE = {"learning_rate": "lr", "num_epochs": "epochs", "num_train_epochs": "epochs", "max_seq_length": "max_length"}


def _options(command: click.Command | None) -> dict[str, str]:
    """Name -> option of a command, `batch_size` -> `--batch-size`, including common names in other programs."""
    params = command.params if command is not None else []
    written = [name for param in params if isinstance(param, click.Option) for name in (*param.opts, *param.secondary_opts)]
    found = {_plain(name): name for name in written if name.startswith("--")}
    return found | {other: found[ours] for other, ours in OPTIONS_ELSEWHERE.items() if ours in found}


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _suggest_option(command: click.Command | None, error: UnknownFieldError) -> GlassformerError:
    """The error for `lr=3`, where `lr` is an option, or `optimiser=…`, which is close to one."""
    options = _options(command)
    near = close_to(error.field, (*error.known, *options))
    if command is None or error.meant is not None or (near in error.known and error.field not in options):
        return error
    if error.field in options:
        return GlassformerError(
            f"unknown field '{shown(error.field)}'. It is an option of {command.name}; write it with dashes: "
            f"{options[error.field]} …"
        )
    hint = f" Did you mean '{options[near]}'?" if near is not None else ""
    way_out = f"{error.way_out.rstrip('.')}, 'glassformer {command.name} --help' lists the options."
    return GlassformerError(f"unknown field '{shown(error.field)}'.{hint} {way_out}")


def _no_such_option(error: click.NoSuchOption) -> str:
    """The error for `--layers 3`, where `layers` is a field, or `--jsn`, which is close to an option."""
    from glassformer.configs.reading import SIZES
    from glassformer.spec import field_rules

    field = _plain(error.option_name)
    if field in field_rules() or field in SIZES:
        return f"no such option '{error.option_name}'. Fields are written after the spec, without dashes: {field}=…"
    options = _options(error.ctx.command if error.ctx is not None else None)
    near = close_to(field, options)
    if near is not None:
        return f"No such option '{shown(error.option_name)}'. Did you mean '{options[near]}'?"
    where = f" '{error.ctx.command_path} --help' lists the options." if error.ctx is not None else ""
    return f"No such option '{shown(error.option_name)}'.{where}"


def _with_way_out(error: click.ClickException) -> str:
    """The message of click, with a pointer to `--help` for missing or unexpected arguments."""
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error)
    plain = type(error) in (click.UsageError, click.MissingParameter)
    if not plain or not isinstance(error, click.UsageError) or error.ctx is None:
        return error.format_message()
    return f"{error.format_message().rstrip('.')}. '{error.ctx.command_path} --help' shows the usage."


def fail(message: str, code: int = 2) -> NoReturn:
    """Write one line to standard error and exit with the given code."""
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("RANK", "0") != "0":
        time.sleep(1)  # torchrun ends all processes as soon as one ends; let rank 0 print first
    else:
        try:
            sys.stderr.write(f"glassformer: {' '.join(message.split())}\n")
            sys.stderr.flush()
        except OSError:  # standard error is closed or its disk is full; only the exit code can be reported
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.exit(code)
