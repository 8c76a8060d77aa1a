"""Commands of the model: verify, export, encode, predict."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from glassformer.cli.options import Named, OneOf, as_option, to_json
from glassformer.spec import GlassformerError, shown
from glassformer.spec.huggingface.tensor_names import OWN
from glassformer.spec.paths import path_text
from glassformer.spec.weight_files import model_folder

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

Command = TypeVar("Command", bound=Callable[..., Any])

DTYPES = ("float32", "float64", "bfloat16", "float16")

checkpoint_argument = click.argument("checkpoint", type=click.Path(path_type=Path))
nonfinite_option = click.option("--allow-nonfinite", is_flag=True, help="Load weights that are NaN or infinite all the same.")


@click.command()
@checkpoint_argument
@as_option
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="For the input, where there is no tokenizer."
)
@click.option("--all", "whole", is_flag=True, help="Every layer in the map of names, not one for all that are alike.")
@click.option("--no-original", is_flag=True, help="Do not ask transformers.")
@nonfinite_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
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
    """The certificate that a load is right: exact, head differs, or refused; then the map of names and the differences.

    The model in float64 and float32, the float64 run and, where transformers is installed, the original answer the same
    input. Exit 1: refused, or a difference is too large.

    \b
    glassformer verify path/to/checkpoint
    glassformer verify path/to/checkpoint --as BertForSequenceClassification
    glassformer verify path/to/checkpoint --json
    """
    from glassformer.cli import verifying
    from glassformer.show.certificate import tables, verdict_line
    from glassformer.show.terminal import show_on_terminal

    found = verifying.certify(
        model_folder(checkpoint), as_class=as_class, seed=seed, original=not no_original, allow_nonfinite=allow_nonfinite
    )
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
@click.option("--onnx", metavar="OUT.onnx", type=Named(path_type=Path), help="An ONNX graph, checked with onnxruntime.")
@click.option("--folder", metavar="OUT", type=Named(path_type=Path), help="The layout that transformers reads.")
@click.option("--own", metavar="OUT", type=Named(path_type=Path), help="spec.json, and tensors with the ledger's names.")
@click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="How the weights are stored.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def export(
    checkpoint: Path, as_class: str | None, onnx: Path | None, folder: Path | None, own: Path | None, dtype: str, as_json: bool
) -> None:
    """A checkpoint in another form: an ONNX graph, a folder for transformers, or a folder of our own.

    Nothing is overwritten, and what is written is whole: a folder takes its name when all of it is on the disk. Each tensor
    of a folder carries its sha256, which is compared whenever the folder is loaded.

    \b
    glassformer export path/to/checkpoint --onnx model.onnx
    glassformer export path/to/checkpoint --folder smaller --dtype bfloat16
    glassformer export path/to/checkpoint --own ledger
    """
    asked = [form for form in (onnx, folder, own) if form is not None]
    if len(asked) != 1:
        raise GlassformerError("which form? Give one of --onnx OUT.onnx, --folder OUT and --own OUT.")
    from glassformer.model.onnx_export import BOUND, export_onnx
    from glassformer.model.sentences import load

    if onnx is not None and dtype in ("bfloat16", "float16"):
        raise GlassformerError(f"--dtype {dtype} is for folders: an ONNX graph is checked in float32 or float64.")
    if onnx is not None and onnx.exists():
        raise GlassformerError(f"{path_text(onnx)} is there already: choose another name, nothing is overwritten.")
    model = load(checkpoint, as_class=as_class, dtype=dtype)
    if folder is not None and model.folder.family == OWN:
        raise GlassformerError(
            f"{path_text(checkpoint)} is in our own layout, and --folder OUT is the one that transformers reads: give --own OUT."
        )
    report: dict[str, Any]
    if onnx is not None:
        checked = export_onnx(model.encoder, onnx)
        sizes = ", ".join(f"{value:.1e} at {size}" for size, value in checked.differences.items())
        names = f"{', '.join(checked.inputs)} -> {', '.join(checked.outputs)}"
        line = f"{onnx}: {names}. Largest difference {sizes} (allowed {BOUND:.0e})."
        report = {"path": str(onnx), "inputs": checked.inputs, "outputs": checked.outputs, "differences": checked.differences}
    else:
        path = model.save(asked[0], own=own is not None)
        line = f"{asked[0]}: {model.folder.model_class}, {model.folder.parameters:,} parameters, {dtype}."
        report = {"path": str(path), "class": model.folder.model_class, "parameters": model.folder.parameters, "dtype": dtype}
    sys.stdout.write((to_json({**report, "verdict": model.verdict}) if as_json else line) + "\n")


def _only_a_dash(_context: click.Context, _parameter: click.Parameter, word: str | None) -> str | None:
    if word not in (None, "-"):
        raise GlassformerError(f"'{shown(word)}': texts are given as --text \"…\", with --file FILE, or as - for standard input.")
    return word


def stream_options(command: Command) -> Command:
    """What `encode` and `predict` share: where texts come from, how they are read, and where rows go."""
    for option in (
        click.argument("stdin", required=False, callback=_only_a_dash, metavar="[-]"),
        checkpoint_argument,
        click.option("--json", "as_json", is_flag=True, help="One JSON document about what was written to --out."),
        click.option("--device", default=None, metavar="NAME", help="cpu or cuda; a GPU where there is one, if not given."),
        click.option("--dtype", default="float32", show_default=True, type=OneOf(DTYPES), help="How it computes."),
        click.option("--batch-tokens", type=click.IntRange(min=1), metavar="N", help="Tokens that go through the model at once."),
        click.option(
            "--empty",
            type=OneOf(["refuse", "skip", "encode"]),
            default="refuse",
            show_default=True,
            help="An empty line: refuse it, leave it out, or take its special tokens alone.",
        ),
        click.option("--truncate", is_flag=True, help="Cut texts that are too long, and say how many; else they are refused."),
        click.option(
            "--out",
            type=Named(path_type=Path),
            metavar="FILE",
            help="A new FILE.npy, FILE.jsonl or FILE.parquet; else JSON lines.",
        ),
        click.option("--file", metavar="FILE", help="A file with one text a line; - is standard input."),
        click.option("--text", "texts", multiple=True, help="A text; may be given more than once."),
        as_option,
    ):
        command = option(command)
    return command


@click.command()
@stream_options
@click.option("--pool", type=OneOf(["mean", "first", "last", "max", "pooled"]), help="The folder's own, or mean, if not given.")
@click.option("--normalise/--no-normalise", default=None, help="Vectors of length one: the folder's own, or yes, if not given.")
def encode(checkpoint: Path, pool: str | None, normalise: bool | None, **options: Any) -> None:
    """A vector for each text: JSON lines, or an .npy, .jsonl or .parquet file, in the order of the input.

    \b
    glassformer encode path/to/checkpoint --text "time flies" --text "like an arrow"
    glassformer encode path/to/checkpoint --file texts.txt --out vectors.npy
    cat texts.txt | glassformer encode path/to/checkpoint - --truncate > vectors.jsonl
    """
    from glassformer.cli.streaming import stream
    from glassformer.cli.tables_out import Rows, require_finite

    def rows(model: LoadedModel, texts: Any, habits: dict[str, Any]) -> Any:
        for some in model.encode_stream(texts, pool=pool, normalise=normalise, **habits):  # type: ignore[arg-type]
            require_finite(some.values, f"{texts.name(some.numbers[0])} and those after it" if some.numbers else "")
            yield Rows(some.numbers, {"embedding": some.values}), some

    stream(checkpoint, rows, what="vectors", **options)


@click.command()
@stream_options
@click.option(
    "--images",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="A picture, a folder of them, or an .npy file of floats [image, channel, row, column], scaled as in training.",
)
def predict(checkpoint: Path, images: Path | None, **options: Any) -> None:
    """Classes with probabilities for each text or picture, tags for its tokens, guesses for its masks: JSON lines, or a file.

    \b
    glassformer predict path/to/classifier --text "what a film"
    glassformer predict path/to/classifier --file reviews.txt --out classes.parquet
    glassformer predict path/to/masked-token-model --text "time [MASK] like an arrow"
    glassformer predict path/to/image-classifier --images photos/
    """
    from glassformer.cli.streaming import rows_of, stream, stream_images

    if images is not None:
        stream_images(checkpoint, images, **options)
        return

    def rows(model: LoadedModel, texts: Any, habits: dict[str, Any]) -> Any:
        for some in model.predict_stream(texts, **habits):
            yield rows_of(some.numbers, some.values), some

    stream(checkpoint, rows, what="predictions", **options)
