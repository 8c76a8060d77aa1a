"""The checkpoint commands: verify, export, encode, predict."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import glassformer as gf
from glassformer.checkpoints.folder import model_folder
from glassformer.cli.options import Named, OneOf, as_option, model_argument, to_json
from glassformer.errors import GlassformerError, shown
from glassformer.files.text_lines import GivenTexts, TextLines

if TYPE_CHECKING:
    from glassformer.encoding.jobs.job import Finished
    from glassformer.encoding.streams import Streamed

Command = TypeVar("Command", bound=Callable[..., Any])

DTYPES = ("float32", "float64", "bfloat16", "float16")

checkpoint_argument = model_argument("checkpoint")
fresh_option = click.option(
    "--fresh-head", is_flag=True, help="Accept random weights for a head that --as names and the checkpoint lacks."
)
nonfinite_option = click.option("--allow-nonfinite", is_flag=True, help="Load the weights even if some are NaN or infinite.")


@click.command()
@checkpoint_argument
@as_option
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Random seed of the input, if there is no tokenizer."
)
@click.option("--all", "whole", is_flag=True, help="List every layer in the name map instead of one for all identical layers.")
@click.option("--no-original", is_flag=True, help="Do not compare with transformers.")
@nonfinite_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def verify(
    ctx: click.Context,
    checkpoint: Path,
    as_class: str | None,
    seed: int,
    whole: bool,
    no_original: bool,
    allow_nonfinite: bool,
    as_json: bool,
) -> None:
    """Verify that a checkpoint is loaded correctly: exact, head differs, or refused; with the name map and the differences.

    Compares the outputs of the PyTorch model in float64 and float32, the float64 reference run and, if transformers is
    installed, the original model, all on the same input. Exits with 1 if refused or if a difference is too large.

    \b
    glassformer verify path/to/checkpoint
    glassformer verify path/to/checkpoint --as BertForSequenceClassification
    glassformer verify path/to/checkpoint --json
    """
    from glassformer.show.certificate import tables, verdict_line
    from glassformer.show.terminal import show_on_terminal

    found = gf.verify(checkpoint, as_class=as_class, seed=seed, original=not no_original, allow_nonfinite=allow_nonfinite)
    if as_json:
        sys.stdout.write(to_json(found.to_dict()) + "\n")
    else:
        sys.stdout.write(verdict_line(found) + "\n")
        for view in tables(found, whole=whole):
            sys.stdout.write("\n")
            show_on_terminal(view)
    ctx.exit(0 if found.holds else 1)


@click.command()
@checkpoint_argument
@as_option
@click.option("--onnx", metavar="OUT.onnx", type=Named(path_type=Path), help="Write an ONNX graph, checked with onnxruntime.")
@click.option("--folder", metavar="OUT", type=Named(path_type=Path), help="Write a folder that transformers can load.")
@click.option(
    "--own", metavar="OUT", type=Named(path_type=Path), help="Write spec.json and tensors with the names of the ledger."
)
@click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="Number format of the stored weights.")
@fresh_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def export(
    checkpoint: Path, onnx: Path | None, folder: Path | None, own: Path | None, dtype: str, as_json: bool, **options: Any
) -> None:
    """Export a checkpoint as an ONNX graph, a folder for transformers, or a folder in Glassformer's own layout.

    Nothing is overwritten, and no partial output remains: a folder gets its name only when it is complete on disk. A folder
    stores a sha256 for each tensor, which is checked on every load.

    \b
    glassformer export path/to/checkpoint --onnx model.onnx
    glassformer export path/to/checkpoint --folder smaller --dtype bfloat16
    glassformer export path/to/checkpoint --own ledger
    """
    found = gf.export(checkpoint, onnx=onnx, folder=folder, own=own, dtype=dtype, **options)
    if as_json:
        sys.stdout.write(to_json(found.to_dict()) + "\n")
    elif found.onnx is not None:
        from glassformer.model.checkpoints.onnx_export import BOUND

        sizes = ", ".join(f"{value:.1e} at {size}" for size, value in found.onnx.differences.items())
        names = f"{', '.join(found.onnx.inputs)} -> {', '.join(found.onnx.outputs)}"
        sys.stdout.write(f"{onnx}: {names}. Largest difference {sizes} (allowed {BOUND:.0e}).\n")
    else:
        sys.stdout.write(f"{folder or own}: {found.model_class}, {found.parameters:,} parameters, {dtype}.\n")


def out_option(*endings: str) -> Callable[[Command], Command]:
    """Return the option --out, whose help lists the endings that the command writes."""
    files = [f"FILE{ending}" for ending in endings]
    said = f"Write to a new {', '.join(files[:-1])} or {files[-1]}; for INPUT, a folder. [default: JSON lines on standard output]"
    return click.option("--out", type=Named(path_type=Path), metavar="FILE|FOLDER", help=said)


def stream_options(command: Command) -> Command:
    """Add the options that `encode` and `predict` share: inputs, reading and outputs."""
    for option in (
        click.argument("inputs", nargs=-1, metavar="[INPUT… | -]"),
        checkpoint_argument,
        click.option("--json", "as_json", is_flag=True, help="Print a JSON summary of what was written to --out."),
        click.option("--device", default=None, metavar="NAME", help="cpu or cuda. [default: cuda if available]"),
        click.option(
            "--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="Number format of the computation."
        ),
        click.option(
            "--engine",
            type=OneOf(["auto", "torch", "onnx", "openvino"]),
            default="torch",
            show_default=True,
            help="CPU engine: torch, or the exported graph in onnxruntime or OpenVINO, which is compared with torch first; "
            "auto measures the installed ones and uses the fastest.",
        ),
        click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Token budget of a batch."),
        click.option(
            "--empty",
            type=OneOf(["refuse", "skip", "encode"]),
            default="refuse",
            show_default=True,
            help="How to handle an empty line: refuse it, skip it, or encode its special tokens.",
        ),
        click.option(
            "--truncate", is_flag=True, help="Truncate texts that are too long instead of refusing them; the number is reported."
        ),
        fresh_option,
        click.option("--column", metavar="NAME", help="Column of a table that holds the texts. [default: text]"),
        click.option(
            "--file",
            metavar="FILE",
            help="File with one text per line, or a table (.csv, .tsv, .json, .jsonl, .parquet); - for standard input.",
        ),
        click.option("--text", "texts", multiple=True, help="A text; may be repeated."),
        as_option,
    ):
        command = option(command)
    return command


JOB = ("form", "carry", "shard_rows", "workers", "threads", "strict", "on")


def job_options(*forms: str) -> Callable[[Command], Command]:
    """Return the options of a job from files to a folder of shards."""

    def decorated(command: Command) -> Command:
        for option in (
            click.option(
                "--on",
                type=OneOf(["here", "ray"]),
                help="Where workers run: here (processes on this machine) or ray (actors of a Ray cluster). [default: here]",
            ),
            click.option("--strict", is_flag=True, help="Stop at the first bad row instead of listing it."),
            click.option("--threads", type=click.IntRange(1, 1024), help="Threads per worker. [default: by the number of cores]"),
            click.option(
                "--workers", metavar="auto|N", help="Worker processes. [default: auto: up to four per GPU, or for all cores]"
            ),
            click.option("--shard-rows", type=click.IntRange(1, 1_000_000), metavar="N", help="Rows per shard. [default: 8192]"),
            click.option("--no-carry", is_flag=True, help="Copy no other columns to the output."),
            click.option(
                "--carry",
                multiple=True,
                metavar="NAME",
                help="Copy only this column to the output; may be repeated. [default: all columns]",
            ),
            click.option("--format", "form", type=OneOf(forms), help="Format of the shards. [default: parquet]"),
        ):
            command = option(command)
        return command

    return decorated


@click.command()
@stream_options
@out_option(".npy", ".jsonl", ".parquet")
@click.option(
    "--pool", type=OneOf(["mean", "first", "last", "max", "pooled"]), help="Pooling. [default: that of the checkpoint, else mean]"
)
@click.option(
    "--normalise/--no-normalise", default=None, help="Scale vectors to unit length. [default: that of the checkpoint, else yes]"
)
@click.option(
    "--store", type=OneOf(["float32", "float16", "int8"]), help="Number format of vectors in shards. [default: float32]"
)
@click.option(
    "--precision",
    type=OneOf(["float32", "int8"]),
    help="Precision of matrix products on a CPU; int8 quantises them, after a comparison with float32 on some texts. "
    "[default: float32]",
)
@job_options("parquet", "npy", "jsonl")
def encode(checkpoint: Path, pool: str | None, normalise: bool | None, **options: Any) -> None:
    """Encode each text as a vector: JSON lines, or an .npy, .jsonl or .parquet file, in input order.

    With INPUT (text, CSV, JSONL or Parquet files, .gz or .zst, folders or globs), writes a folder of shards with a manifest.
    The same command again continues an interrupted job; bad rows are listed in bad_rows.jsonl.

    \b
    glassformer encode path/to/checkpoint --text "time flies" --text "like an arrow"
    glassformer encode path/to/checkpoint --file texts.txt --out vectors.npy
    cat texts.txt | glassformer encode path/to/checkpoint - --truncate > vectors.jsonl
    glassformer encode path/to/checkpoint reviews.csv --column review --truncate --out vectors
    """
    job = job_options_given(checkpoint, options, ("store", "precision", *JOB))
    if job is not None:
        _print_job(gf.encode_files(checkpoint, pool=pool, normalise=normalise, **job), "vectors", as_json=options["as_json"])
        return
    texts, options, as_json = input_texts(checkpoint, options)
    _print_summary(
        gf.encode(checkpoint, texts, pool=pool, normalise=normalise, progress=True, **options), "vectors", as_json=as_json
    )


@click.command()
@stream_options
@out_option(".jsonl", ".parquet")
@click.option(
    "--images",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="An image, a folder of images, or an .npy file of floats [image, channel, row, column], scaled as in training.",
)
@job_options("parquet", "jsonl")
def predict(checkpoint: Path, images: Path | None, **options: Any) -> None:
    """Predict class probabilities for each text or image, tags for tokens, or masked tokens: JSON lines, or a file.

    With INPUT, writes a folder of shards, as `encode` does.

    \b
    glassformer predict path/to/classifier --text "what a film"
    glassformer predict path/to/classifier --file reviews.txt --out classes.parquet
    glassformer predict path/to/masked-token-model --text "time [MASK] like an arrow"
    glassformer predict path/to/image-classifier --images photos/
    glassformer predict path/to/classifier reviews.jsonl --column review --out classes
    """
    job = job_options_given(checkpoint, options, JOB)
    if job is not None:
        if images is not None:
            raise GlassformerError("--images and INPUT are both given: choose one.")
        _print_job(gf.predict_files(checkpoint, **job), "predictions", as_json=options["as_json"])
        return
    texts, options, as_json = input_texts(checkpoint, options, images=images)
    _print_summary(gf.predict(checkpoint, texts, images=images, progress=True, **options), "predictions", as_json=as_json)


def input_texts(checkpoint: Path, options: dict[str, Any], *, images: Path | None = None) -> tuple[Any, dict[str, Any], bool]:
    """Return the texts (from --text, --file or standard input), the other options, and whether a JSON summary is wanted."""
    model_folder(checkpoint)  # report a misspelt model before anything else
    texts, file, inputs, as_json = (options.pop(name) for name in ("texts", "file", "inputs", "as_json"))
    stdin = "-" if inputs else None
    if as_json and options["out"] is None:
        raise GlassformerError("the output is JSON lines already: --json summarizes a file written with --out.")
    options["out"] = options["out"] or sys.stdout.buffer
    sources = [bool(texts), file is not None, stdin is not None]
    if images is not None:
        return (texts or file or stdin), options, as_json
    if sum(sources) != 1:
        raise GlassformerError("no input texts: give --text (may be repeated), --file FILE, or - for standard input.")
    if texts:
        return GivenTexts(texts, "--text"), options, as_json
    return (Path(file) if file not in (None, "-") else TextLines(sys.stdin.buffer, "standard input")), options, as_json


def job_options_given(checkpoint: Path, options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the options of a job if INPUT is given; otherwise remove them, and refuse those that only a job has."""
    model_folder(checkpoint)
    no_carry = options.pop("no_carry")
    job = {name: value for name in names if (value := options.pop(name)) not in (None, (), False)}
    if no_carry:
        if "carry" in job:
            raise GlassformerError("--carry and --no-carry are both given: choose one.")
        job["carry"] = ()
    if options["inputs"] in ((), ("-",)):
        if job:
            word = next(iter(job)).replace("form", "format").replace("_", "-")
            raise GlassformerError(f"--{word} needs input files: name them after the checkpoint, and give --out FOLDER.")
        return None
    if options["texts"] or options["file"] is not None:
        raise GlassformerError("INPUT and --text or --file are both given: choose one.")
    if "-" in options["inputs"]:
        raise GlassformerError("- reads standard input and cannot be combined with files: name files, or give only -.")
    if options["out"] is None:
        first = options["inputs"][0]
        if not Path(first).exists() and not set(first) & set("*?["):
            raise GlassformerError(
                f"'{shown(first)}' is not a file: give texts with --text \"…\", files with --out FOLDER, or - for standard input."
            )
        raise GlassformerError("no output folder: the results are written as shards, so give --out FOLDER.")
    if options["fresh_head"]:
        raise GlassformerError(
            "--fresh-head cannot be used with files: each worker would draw different random weights. Train the head first."
        )
    shared = ("inputs", "out", "column", "truncate", "empty", "batch_tokens", "dtype", "device", "as_class", "engine")
    return {**job, **{name: options[name] for name in shared}, "progress": True}


def _print_job(found: Finished, what: str, *, as_json: bool) -> None:
    """Print the counts of a job."""
    about = found.to_dict()
    if as_json:
        print(to_json(about))
        return
    if found.manifest["certificates"] or found.manifest["why"] != "as asked":
        print(f"glassformer: {engine_note(found.manifest)}", file=sys.stderr)
    shards = f"{about['shards']:,} shard{'s' if about['shards'] != 1 else ''}"
    kept = f" ({about['kept']:,} finished before)" if about["kept"] else ""
    notes = {"cut": "truncated", "left_out": "skipped because empty", "bad": "bad, see bad_rows.jsonl"}
    told = "".join(f", {about[name]:,} {text}" for name, text in notes.items() if about[name])
    print(f"{found.out}: {found.rows:,} {what} in {shards}{kept}{told}.")


def engine_note(about: dict[str, Any]) -> str:
    """Return which engine was used, why, and its largest difference from PyTorch."""
    if about["why"] == "int8":
        return f"int8: {about['certificates'][0]['note']}."
    own = [one for one in about["certificates"] if one["engine"] == about["engine"]]
    exact = f"; largest difference from torch {own[0]['difference']:.1e}, allowed {own[0]['bound']:.0e}" if own else ""
    return f"engine {about['engine']} ({about['why']}{exact})."


def _print_summary(found: Streamed, what: str, *, as_json: bool) -> None:
    """Print what was written to standard output, and how many texts were cut or skipped to standard error."""
    notes = []
    if found.cut:
        notes.append(f"truncated to {found.longest:,} tokens: {found.cut:,} of {found.rows:,} texts.")
    if found.left_out:
        notes.append(f"skipped because empty: {found.left_out:,} of {found.rows + found.left_out:,} texts.")
    if found.engine is not None:
        notes.append(engine_note(found.engine.to_dict()))
    for note in notes:
        print(f"glassformer: {note}", file=sys.stderr)
    if found.out is not None:
        print(to_json(found.to_dict()) if as_json else f"{found.out}: {found.rows:,} {what}.")
