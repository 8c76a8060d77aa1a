"""The commands `card` and `compare` in Python: one model in figures, and several side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.algebra.summary import Card, Comparison, Summary, summary
from glassformer.arguments import path, yes_no
from glassformer.configs.reading import What, request
from glassformer.errors import GlassformerError, needs_torch, shown

if TYPE_CHECKING:
    from glassformer.spec import EncoderSpec

BATCH, PASSES = 8, 3  # the fastest of this many passes is reported


def card(what: What, *, out: str | Path | None = None, as_class: str | None = None, **fields: Any) -> Card:
    """Return a model card of a checkpoint, config or preset: `gf.card("path/to/model", out="MODEL_CARD.md")`.

    It contains the parameters by part, FLOPs and memory at usual lengths, the largest batch on common GPUs, the attention
    pattern, and for a folder its tokenizer and licence. `out` is a new file that ends in .md or .html.
    """
    from glassformer.model.kept import FUSED

    requested = request(what, as_class=as_class, **fields)
    folder = Path(what) if isinstance(what, str | Path) and Path(what).is_dir() else None
    found = summary(requested.spec, label=requested.label, memory_model=FUSED, t=requested.t, batches=True)
    made = Card(folder.resolve().name if folder else requested.label, found, tuple(_facts(folder)) if folder else ())
    if out is not None:
        _write(made, path("out", out))
    return made


def _facts(folder: Path) -> list[tuple[str, str]]:
    """Facts from the files next to the weights: class, tokenizer, licence."""
    from glassformer.files.documents import read_document
    from glassformer.files.facts import licence_facts, tokenizer_facts

    config = folder / "config.json"
    named = read_document(config).get("architectures") if config.is_file() else None
    first = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else None
    return [*([("class", shown(first))] if first else []), *tokenizer_facts(folder), *licence_facts(folder)]


def _write(made: Card, file: Path) -> None:
    """Write the card atomically, in the format of the file's ending; an existing file is never replaced."""
    from glassformer.files.paths import not_written, path_text
    from glassformer.show import present
    from glassformer.show.report.page import card_page

    ending = file.suffix.lower()
    if ending not in (".md", ".html"):
        raise GlassformerError(f"{path_text(file)}: a card is Markdown or HTML: its name must end in .md or .html.")
    text = present(made).markdown() + "\n" if ending == ".md" else str(card_page(made.title, present(made).html()))
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise GlassformerError(f"{path_text(file)} exists and is not replaced: choose another --out.") from None
    except OSError as error:
        raise not_written(file, error) from None


def compare(*what: What, t: int | None = None, speed: bool = False) -> Comparison:
    """Compare models side by side: `gf.compare("bert-base", "modernbert-base", t=512)`.

    Parameters, FLOPs per position, memory of one input, longest input. Without `t`, each model is measured at 512
    positions, or at its maximum if that is shorter. `speed=True` also measures each model with random weights on this machine,
    which needs PyTorch.
    """
    from glassformer.model.kept import FUSED

    if len(what) < 2:
        raise GlassformerError("compare needs at least two models: gf.compare('bert-base', 'modernbert-base').")
    found: list[Summary] = []
    for one in what:
        requested = request(one, decoders=True)
        length = None if requested.spec.one_length else requested.t or t
        model = summary(requested.spec, label=requested.label, memory_model=FUSED, t=length, all_lengths=False)
        found.append(replace(model, speed=measured(requested.spec, model.t)) if yes_no("speed", speed) else model)
    notes = [f"Measured here: batches of {BATCH}, float32, random weights, the fastest of {PASSES} passes."] if speed else []
    if len({model.t for model in found}) > 1:
        notes.append("The inputs differ in length: compare figures per position.")
    return Comparison(tuple(found), tuple(notes))


@needs_torch
def measured(spec: EncoderSpec, t: int) -> float:
    """Inputs per second of the PyTorch model with random weights on this machine."""
    import time

    import torch

    from glassformer.configs.reading import require_encoder
    from glassformer.model import Encoder, fast

    require_encoder(spec, "one of the models")
    encoder = fast.apply(Encoder(spec)).eval()
    shapes = {"image": spec.picture_shape, "frames": (spec.mels or 0, spec.frames)}
    given = torch.randn(BATCH, *shapes.get(spec.reads, (t, spec.d_model)))
    if spec.reads == "tokens":
        given = torch.randint(0, spec.vocab or 1, (BATCH, t))
    seconds = []
    with torch.inference_mode():
        for _ in range(1 + PASSES):  # the first one warms up
            start = time.perf_counter()
            encoder(given.to(encoder.here.device))
            seconds.append(time.perf_counter() - start)
    return BATCH / min(seconds[1:])
