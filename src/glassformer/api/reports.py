"""Write a report: one HTML file about a spec, a checkpoint or a training run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import words
from glassformer.configs.reading import SIZES, Request, What, request
from glassformer.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.numbers.run import Run
    from glassformer.program.axes import Floats
    from glassformer.show.markup import Child
    from glassformer.show.report import Section
    from glassformer.show.report.learned import Learned
    from glassformer.show.report.seen import Check

PARTS = ("training", "encoder", "ledger", "shapes", "cost", "equations", "attention", "why", "checks")  # in the order of the page
KINDS = {"image": "images", "frames": "audio"}  # inputs other than text
SENTENCE = "The animal did not cross the street because it was too tired."
MOST_VERIFIED = 40_000_000  # parameters; larger models are not loaded in two precisions to verify them
MOST_RUN = 400_000_000  # parameters; larger checkpoints are not run in float64 for attention pictures


@dataclass(frozen=True)
class Report:
    """A report that was written: its path and contents."""

    path: Path
    size: int  # bytes
    sections: tuple[str, ...]
    notes: tuple[str, ...]  # what is not shown, and why

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `glassformer report --json`."""
        return {"report": str(self.path), "bytes": self.size, "sections": list(self.sections), "notes": list(self.notes)}


def report(
    what: What,
    *,
    out: str | Path | None = None,
    text: str | None = None,
    without: str | Sequence[str] = (),
    as_class: str | None = None,
    **fields: Any,
) -> Report:
    """Write a report about an encoder, as one self-contained HTML file: `gf.report("runs/digits-1")`.

    It contains ledger, diagram, shapes, cost and equations; for a checkpoint also its attention on `text` and checks; for a run
    also its curves. `without` names parts to leave out. The file is report.html in the folder of a run, otherwise
    NAME-report.html in the current folder.
    """
    left_out = _left_out(without)
    from glassformer.model.kept import FUSED
    from glassformer.show.report import page, save_page
    from glassformer.show.report.derived import derived_sections, lead, subject

    contents = Contents(what, fields, left_out, text=text, as_class=as_class)
    about = subject(contents.requested, FUSED)
    found = {one.name: one for one in (*derived_sections(about), *contents.sections())}
    sections = [found[name] for name in PARTS if name in found and name not in left_out]
    path = save_page(page(contents.title, lead(about), sections), out or contents.default_path())
    return Report(path, path.stat().st_size, tuple(one.name for one in sections), tuple(contents.notes))


class Contents:
    """The subject of a report, and the sections that need a run or a checkpoint."""

    def __init__(
        self, what: What, fields: dict[str, Any], left_out: frozenset[str], *, text: str | None, as_class: str | None = None
    ) -> None:
        from glassformer.api.numbers import holds_weights
        from glassformer.show.report.learned import is_run

        self.text, self.left_out, self.as_class = text, left_out, as_class
        self.notes: list[str] = []
        self.folder = Path(what) if isinstance(what, str | Path) else None
        self.run_folder = self.folder if self.folder is not None and is_run(self.folder) else None
        weights = self.run_folder / "best" if self.run_folder else self.folder
        self.weights = weights if weights is not None and holds_weights(weights) else None
        changed = [name for name in fields if name not in SIZES]
        if changed and (self.run_folder or self.weights):
            field = f"{shown(changed[0])}={shown(fields[changed[0]])}"
            raise GlassformerError(
                f"{field} cannot be changed in a report of {shown(str(what))}: it has weights. Leave it out, or name a spec."
            )
        self.requested: Request = request(what, as_class=as_class, **fields)

    @property
    def title(self) -> str:
        """Title of the report: the label of the spec, or the name of the folder without its path."""
        return self.folder.resolve().name if self.folder and (self.run_folder or self.weights) else self.requested.label

    def default_path(self) -> Path:
        """Return the default path: in the folder of the run, otherwise in the current folder."""
        if self.run_folder:
            return self.run_folder / "report.html"
        stem = "".join(letter if letter.isalnum() or letter in "-_.=" else "-" for letter in Path(self.title).name)
        return Path(f"{stem[:80].strip('-.') or 'encoder'}-report.html")

    def sections(self) -> Iterator[Section]:
        """Yield the sections on training, attention and checks, if they apply."""
        from glassformer.show.report.learned import learned_section, read_run
        from glassformer.show.report.seen import attention_section, checks_section, run_checks

        learned = read_run(self.run_folder) if self.run_folder else None
        if learned is not None:
            yield learned_section(learned)
        checks = list(self.counted(learned))
        if not {"attention", "why", "checks"} <= self.left_out:
            done = self.looked(learned)
            if done is not None:
                run, said, picture = done
                if run.program.spec.layers:
                    yield attention_section(run, said, picture)
                    yield from self.why(run)
                checks += run_checks(run)
        if checks and "checks" not in self.left_out:
            yield checks_section(checks, self.certificate())

    def why(self, run: Run) -> Iterator[Section]:
        """Yield the section on the predicted class, if the head has classes for the whole input."""
        from glassformer.numbers import Rules, open_checkpoint
        from glassformer.numbers.contributions.quantities import LOGITS, Quantity, attributed, usual
        from glassformer.show.report.why import why_section
        from glassformer.spec import MASKED_HEADS, TOKEN_HEADS

        spec = run.program.spec
        if "why" in self.left_out or LOGITS not in run or spec.predicts_next or spec.head in (*MASKED_HEADS, *TOKEN_HEADS):
            return
        held = open_checkpoint(self.weights, as_class=self.as_class).labels if self.weights is not None else ()
        labels = held or tuple(f"LABEL_{number}" for number in range(spec.classes))
        yield why_section(attributed(run, Quantity.of(usual(run, labels)), Rules(), labels=labels, token_id=lambda _: None))

    def counted(self, learned: Learned | None) -> Iterator[Check]:
        """Compare the count with the files and with the trained model."""
        from glassformer.algebra import count
        from glassformer.show.report.seen import Check

        total = count(self.requested.spec).total
        if self.weights is not None:
            from glassformer.numbers import open_checkpoint

            held = open_checkpoint(self.weights, as_class=self.as_class).parameters
            yield Check(
                held == total,
                f"The files contain {held:,} parameters, each with the expected name and shape; the ledger has {total:,}.",
            )
        measured = (learned.start.get("measured") or {}).get("parameters") if learned is not None else None
        if isinstance(measured, int):
            yield Check(measured == total, f"The trained PyTorch model had {measured:,} parameters.")

    def looked(self, learned: Learned | None) -> tuple[Run, str, Floats | None] | None:
        """Return a forward pass for the attention section, a sentence about its input, and the image, if any; or None."""
        spec, text = self.requested.spec, self.text
        if spec.one_length and text is not None:
            raise GlassformerError(f"this encoder reads {KINDS[spec.reads]}, not text: leave --text out.")
        try:
            if self.weights is None:
                if text is None:
                    return None
                from glassformer.numbers.seeded import seeded_run

                return seeded_run(spec, words=text), "The weights are random, from a seed: small, readable numbers.", None
            from glassformer.numbers import open_checkpoint

            checkpoint = open_checkpoint(self.weights, as_class=self.as_class)
            if checkpoint.parameters > MOST_RUN:
                self.notes.append(
                    f"attention is not shown: a model with {checkpoint.parameters:,} parameters is too large to run in float64."
                )
                return None
            if spec.one_length:
                return self._on_image(checkpoint, learned)
            return checkpoint.run(text=text if text is not None else SENTENCE), "The model ran in float64 on this sentence.", None
        except GlassformerError as error:
            if text is not None:
                raise
            self.notes.append(f"attention is not shown: {error}")
            return None

    def _on_image(self, checkpoint: Any, learned: Learned | None) -> tuple[Run, str, Floats | None] | None:
        """Run on the first test image of the run's data; a checkpoint without data has no image."""
        if learned is None:
            kind = KINDS[self.requested.spec.reads]
            self.notes.append(f"attention is not shown: this encoder reads {kind}, and a checkpoint contains none.")
            return None
        try:
            from glassformer.training.data import load_data
        except ModuleNotFoundError:
            self.notes.append("attention is not shown: reading the run's images needs PyTorch, which is not installed.")
            return None
        data = load_data(**learned.about["data"]["source"])
        pictures: Any = data.test.inputs
        pixels = pictures.take([0])[0] * (2.0 / pictures.white) - 1.0
        targets: Any = data.test.targets
        label = data.labels[int(targets[0])] if data.labels else ""
        return checkpoint.run(image=pixels), f"The model ran in float64 on the first test image, a {shown(label)}.", pixels

    def certificate(self) -> Child:
        """Return the certificate of `verify`, if PyTorch is installed and the model is small."""
        if self.weights is None:
            return None
        from glassformer.api.verification import certify
        from glassformer.numbers import open_checkpoint
        from glassformer.show.certificate import tables, verdict_line
        from glassformer.show.markup import tags

        command = f"glassformer verify {self.weights}" + (f" --as {self.as_class}" if self.as_class else "")
        if open_checkpoint(self.weights, as_class=self.as_class).parameters > MOST_VERIFIED:
            return tags.p(f"Not verified here, since the model is large: {command}")
        try:
            found = certify(self.weights, as_class=self.as_class, seed=0, original=False, allow_nonfinite=False)
        except ModuleNotFoundError:
            return tags.p(f"Not verified here, since PyTorch is not installed: {command}")
        views = tables(found, whole=False)
        return [tags.h3("The certificate"), tags.p(verdict_line(found)), [view.markup() for view in reversed(views)]]


def _left_out(without: str | Sequence[str]) -> frozenset[str]:
    parts = words("without", without)
    for word in parts:
        if word not in PARTS:
            raise GlassformerError(f"--without {shown(word)} is not a part of a report. Parts: {', '.join(PARTS)}.")
    return frozenset(parts)
