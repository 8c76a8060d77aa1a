"""The command that writes a report: one HTML file about a spec, a checkpoint or a training run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glassformer.cli.options import Named, as_option, complete_words, one_spec, to_json
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import SIZES, Request, only_fields, request, split_words

if TYPE_CHECKING:
    from glassformer.numbers.run import Run
    from glassformer.program.axes import Floats
    from glassformer.show.report import Section
    from glassformer.show.report.learned import Learned
    from glassformer.show.report.seen import Check

PARTS = ("training", "encoder", "ledger", "shapes", "cost", "equations", "attention", "checks")  # in the order of the page
KINDS = {"image": "images", "frames": "sound"}  # what is read that is no text
SENTENCE = "The animal did not cross the street because it was too tired."
MOST_VERIFIED = 40_000_000  # parameters of a model that is loaded twice, in two precisions, only to be checked
MOST_RUN = 400_000_000  # parameters of a checkpoint that is run in float64 for its pictures


@click.command()
@click.argument("words", nargs=-1, metavar="RUN|CHECKPOINT|SPEC [field=value …]", shell_complete=complete_words)
@click.option("--text", help="The sentence whose attention is shown. [default: one about a tired animal]")
@as_option
@click.option("--out", type=Named(), metavar="FILE", help="The file. [default: RUN/report.html, or NAME-report.html here]")
@click.option("--without", metavar="PARTS", default="", help=f"Parts to leave out: {', '.join(PARTS)}.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output: where it lies and what is in it.")
def report(words: tuple[str, ...], out: str | None, without: str, as_json: bool, **given: str | None) -> None:
    """All that is known of an encoder, as one file that opens from disk: ledger, diagram, shapes, cost, equations;
    of a checkpoint also its attention and checks; of a run also its curves.

    \b
    glassformer report bert-base t=512 --out bert.html
    glassformer report runs/digits-1
    glassformer report path/to/checkpoint --text "time flies like an arrow" --without shapes
    """
    left_out = _left_out(without)
    ((what, fields),) = split_words(one_spec(words), count=1)
    from glassformer.show.report import page, save_page
    from glassformer.show.report.derived import derived_sections, lead, subject

    contents = Contents(what, fields, left_out, **given)
    about = subject(contents.asked)
    found = {one.name: one for one in (*derived_sections(about), *contents.sections())}
    sections = [found[name] for name in PARTS if name in found and name not in left_out]
    path = save_page(page(contents.title, lead(about), sections), out or contents.default_path())
    size = path.stat().st_size
    for note in contents.notes:
        sys.stderr.write(f"{note}\n")
    if as_json:
        named = {"report": str(path), "bytes": size, "sections": [one.name for one in sections], "notes": contents.notes}
        sys.stdout.write(to_json(named) + "\n")
    else:
        sys.stdout.write(f"report: {path} ({size / 1000:,.0f} kB; {', '.join(one.name for one in sections)})\n")


class Contents:
    """What a name stands for, and the sections that only it can have."""

    def __init__(
        self, what: str, fields: dict[str, str], left_out: frozenset[str], *, text: str | None, as_class: str | None = None
    ) -> None:
        from glassformer.api import holds_weights
        from glassformer.show.report.learned import is_run

        self.what, self.text, self.left_out, self.as_class = what, text, left_out, as_class
        self.notes: list[str] = []
        self.run_folder = Path(what) if is_run(what) else None
        weights = Path(what) / "best" if self.run_folder else Path(what)
        self.weights = weights if holds_weights(weights) else None
        changed = [name for name in fields if name not in SIZES]
        if changed and (self.run_folder or self.weights):
            field = f"{shown(changed[0])}={shown(fields[changed[0]])}"
            raise GlassformerError(
                f"{field} cannot be changed in a report of {shown(what)}: it has weights. Leave it out, or name a spec."
            )
        self.asked: Request = request(what, as_class=as_class, **only_fields(fields))

    @property
    def title(self) -> str:
        """What the report is called: the name of a folder without what leads to it."""
        path = Path(self.what)
        return path.resolve().name if self.run_folder or self.weights else self.asked.label

    def default_path(self) -> Path:
        """Beside the run that it tells of, or here."""
        if self.run_folder:
            return self.run_folder / "report.html"
        stem = "".join(letter if letter.isalnum() or letter in "-_.=" else "-" for letter in Path(self.title).name)
        return Path(f"{stem[:80].strip('-.') or 'encoder'}-report.html")

    def sections(self) -> Iterator[Section]:
        """Training, attention, checks: where there is something to tell."""
        from glassformer.show.report.learned import learned_section, read_run
        from glassformer.show.report.seen import attention_section, checks_section, run_checks

        learned = read_run(self.run_folder) if self.run_folder else None
        if learned is not None:
            yield learned_section(learned)
        checks = list(self.counted(learned))
        if not {"attention", "checks"} <= self.left_out:
            done = self.looked(learned)
            if done is not None:
                run, said, picture = done
                if run.program.spec.layers:
                    yield attention_section(run, said, picture)
                checks += run_checks(run)
        if checks and "checks" not in self.left_out:
            yield checks_section(checks, self.certificate())

    def counted(self, learned: Learned | None) -> Iterator[Check]:
        """The count against outside witnesses: the diagram's blocks, the files, the trained model."""
        from glassformer.algebra import count
        from glassformer.show.report.seen import Check

        total = count(self.asked.spec).total
        if self.weights is not None:
            from glassformer.numbers import open_checkpoint

            held = open_checkpoint(self.weights, as_class=self.as_class).parameters
            yield Check(
                held == total,
                f"The files hold {held:,} learned numbers, each under its name with its shape; the ledger says {total:,}.",
            )
        measured = (learned.start.get("measured") or {}).get("parameters") if learned is not None else None
        if isinstance(measured, int):
            yield Check(measured == total, f"The trained PyTorch model had {measured:,} parameters.")

    def looked(self, learned: Learned | None) -> tuple[Run, str, Floats | None] | None:
        """A forward pass to look into, what went in, and the image where it was one; None where there is nothing to run."""
        spec, text = self.asked.spec, self.text
        if spec.one_length and text is not None:
            raise GlassformerError(f"this encoder reads {KINDS[spec.reads]}, not text: leave --text out.")
        try:
            if self.weights is None:
                if text is None:
                    return None
                from glassformer.numbers.seeded import seeded_run

                return seeded_run(spec, words=text), "The weights are made up from a seed: small numbers that can be read.", None
            from glassformer.numbers import open_checkpoint

            checkpoint = open_checkpoint(self.weights, as_class=self.as_class)
            if checkpoint.parameters > MOST_RUN:
                self.notes.append(
                    f"attention is not shown: {checkpoint.parameters:,} parameters are too many to run in float64 here."
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
        """The first test image of the run's data; a checkpoint without data has no image to look at."""
        if learned is None:
            kind = KINDS[self.asked.spec.reads]
            self.notes.append(f"attention is not shown: this encoder reads {kind}, and a checkpoint brings none.")
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

    def certificate(self) -> str:
        """The certificate of `verify`, where PyTorch is there and the model is small."""
        if self.weights is None:
            return ""
        from glassformer.cli.verifying import certify
        from glassformer.numbers import open_checkpoint
        from glassformer.show.certificate import tables, verdict_line
        from glassformer.show.report.page import paragraph, table

        command = f"glassformer verify {self.weights}" + (f" --as {self.as_class}" if self.as_class else "")
        if open_checkpoint(self.weights, as_class=self.as_class).parameters > MOST_VERIFIED:
            return paragraph(f"Not proved here, since that takes a while: {command}")
        try:
            found = certify(self.weights, as_class=self.as_class, seed=0, original=False, allow_nonfinite=False)
        except ModuleNotFoundError:
            return paragraph(f"Not proved here, since PyTorch is not installed: {command}")
        views = tables(found, whole=False)
        return "<h3>The certificate</h3>" + paragraph(verdict_line(found)) + "".join(table(view) for view in reversed(views))


def _left_out(text: str) -> frozenset[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in PARTS:
            raise GlassformerError(f"--without {shown(word)} is no part of a report: {', '.join(PARTS)}.")
    return frozenset(words)
