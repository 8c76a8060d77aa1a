"""The run folder: complete in itself, so that a run can be looked at, continued and repeated from it alone.

run.json       format, data (where from, options, fingerprint, labels, licence), predicted figures, parameters, threads
spec.json      settings.json      tokenizer.json (texts)
start/         the weights that it began with, where those are a checkpoint's
metrics.jsonl  a line a step that is logged, a line an epoch
checkpoints/   what resume needs: the last few and the best
best/  last/   weights, ready to load: in the layout of transformers where one of its classes is the encoder, or else in our own
curves.png     curves.svg         report.md
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import glassformer.show.curves as show_curves
from glassformer.model import Encoder
from glassformer.model.export import save
from glassformer.model.folders import sync, vacant, whole
from glassformer.model.sentence_settings import note_context
from glassformer.spec import EncoderSpec, GlassformerError, shown
from glassformer.spec.files import read_document
from glassformer.spec.paths import no_such, path_text
from glassformer.spec.reading import from_document, is_there
from glassformer.spec.viewed import Viewed
from glassformer.training import state
from glassformer.training.data.dataset import PARTS, Dataset
from glassformer.training.data.examples import check_fits
from glassformer.training.loggers import Logger
from glassformer.training.pace import threads_for
from glassformer.training.published import describe_tokens, publish
from glassformer.training.report import report_markdown, report_of
from glassformer.training.settings import Settings
from glassformer.training.starting import FOLDER as START
from glassformer.training.starting import Start, check_train_only, parameter_counts
from glassformer.training.tokenizers import FILE as TOKENIZER
from glassformer.training.tokenizers import Tokenizer

FORMAT = 1
RUN, SPEC, SETTINGS, METRICS, LOCK, REPORT = "run.json", "spec.json", "settings.json", "metrics.jsonl", "lock", "report.md"
UNFINISHED = re.compile(r"(?:best|last)\.(?:new|old)|\.(?:best|last)\.new\.[0-9a-f]{8}")  # best/ and last/ being written


@dataclass(frozen=True)
class Run(Viewed):
    """One training run and its folder."""

    path: Path
    spec: EncoderSpec
    settings: Settings
    tokenizer: Tokenizer | None
    about: dict[str, Any]  # run.json

    @classmethod
    def create(
        cls,
        path: Path,
        spec: EncoderSpec,
        settings: Settings,
        tokenizer: Tokenizer | None,
        data: Dataset,
        *,
        source: dict[str, Any],
        predicted: dict[str, Any] | None = None,
        start: Start | None = None,
    ) -> Run:
        """A new folder; `source` is what `load_data` was called with, so that resume can call it again.

        `start` is a checkpoint to begin with. Its weights are put into the folder: the checkpoint is not needed again.
        """
        check_fits(data.task, settings.augment, settings.context)
        began = {} if start is None else start.about
        check_train_only(settings.train_only, checkpoint=start is not None)
        about: dict[str, Any] = {"format": FORMAT, "data": {"source": source, **identity(data)}}
        about |= {"notes": list(data.notes), "provenance": asdict(data.provenance), "predicted": predicted or {}, "start": began}
        about |= {"counts": parameter_counts(spec, began, settings), "threads": threads_for(settings, predicted or {})}
        with whole(vacant(path)) as folder:
            if start is not None:
                save(start.encoder, folder / START, beside=start.folder)
            _write(folder / RUN, about)
            _write(folder / SPEC, spec.to_dict())
            _write(folder / SETTINGS, settings.to_dict())
            if tokenizer is not None:
                tokenizer.save(folder / TOKENIZER)
        return cls(path.absolute(), spec, settings, tokenizer, about)

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """A folder that `create` made, by this version or an older one."""
        path = Path(path)
        if not is_there(str(path)):
            raise no_such(path, "folder", wanted="'glassformer train' makes a run.")
        if not (path / RUN).is_file():
            runs = show_curves.runs_in(path)
            way = f"It holds runs: name {path_text(runs[0])}, or another" if runs else "'glassformer train' makes one"
            raise GlassformerError(f"{path_text(path)} is no run folder: it has no {RUN}. {way}.")
        about = read_document(path / RUN)
        version = about.get("format")
        if not isinstance(version, int) or version > FORMAT:
            raise GlassformerError(
                f"{path_text(path)} was made by a newer version of glassformer (format {shown(version)}, this one reads up to "
                f"{FORMAT}). Update glassformer; nothing was changed."
            )
        spec, _ = from_document(read_document(path / SPEC), source=SPEC)
        settings = Settings.from_dict(read_document(path / SETTINGS))
        tokenizer = Tokenizer.load(path / TOKENIZER) if (path / TOKENIZER).is_file() else None
        return cls(path.absolute(), spec, settings, tokenizer, about)

    @property
    def checkpoints(self) -> Path:
        """Where states are saved."""
        return self.path / "checkpoints"

    @property
    def resume_command(self) -> str:
        """What goes on with this run, ready to be pasted into a shell."""
        return f"glassformer resume {shlex.quote(str(self.path))}"

    @property
    def metrics(self) -> Path:
        """The log."""
        return self.path / METRICS

    def with_settings(self, **changed: Any) -> Run:
        """The same run with some settings changed, here and in its folder."""
        settings = self.settings.replace(**changed)
        temporary = self.path / f"{SETTINGS}.tmp"
        state.write(temporary, _json(settings.to_dict()))
        temporary.replace(self.path / SETTINGS)
        sync(self.path)
        return Run(self.path, self.spec, settings, self.tokenizer, self.about)

    def identity(self) -> dict[str, Any]:
        """What a checkpoint belongs to."""
        tokenizer = None if self.tokenizer is None else self.tokenizer.fingerprint
        return {"spec": self.spec.to_dict(), "settings": self.settings.to_dict(), "tokenizer": tokenizer}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, no other process can work on this run; the system lets go of the lock even of a killed process."""
        with (self.path / LOCK).open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                who = file.read(20).strip() or "another process"
                raise GlassformerError(f"{path_text(self.path)} is being trained by process {shown(who)}: wait for it.") from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)  # a name that stays tells of a process that was killed

    def sweep(self) -> None:
        """Remove what killed processes left half-written; for the one that holds the lock."""
        state.sweep(self.checkpoints)
        left = (path for path in self.path.iterdir() if UNFINISHED.fullmatch(path.name))
        for path in left:
            shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def log(self, size: int, loggers: Sequence[Logger] = ()) -> Iterator[Log]:
        """The log, cut to the size that it had when the state was saved: what came later is computed again."""
        file = self.metrics.open("ab")
        try:
            file.truncate(size)
            yield Log(file, loggers)
        finally:
            with suppress(OSError):  # a full disk was said before; what is buffered is computed again
                file.close()

    def export(self, name: str, encoder: Encoder, labels: tuple[str, ...]) -> None:
        """Put weights into best/ or last/; an older folder gives way only to one that is complete."""
        target, fresh, old = (self.path / one for one in (name, f"{name}.new", f"{name}.old"))
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)
        with self.writing(f"{name}/"):
            start, beside = self.about.get("start", {}), self.path / START
            trained = self.settings.train_only
            publish(encoder, fresh, labels, start=start, beside=beside if beside.is_dir() else None, trained=trained)
            if self.tokenizer is not None and not (fresh / TOKENIZER).exists():
                self.tokenizer.save(fresh / TOKENIZER)
                describe_tokens(fresh)
            note_context(fresh, self.settings.context)
            if target.exists():
                target.rename(old)
            fresh.rename(target)
            sync(self.path)
        shutil.rmtree(old, ignore_errors=True)

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Inside, a disk that refuses is one line: training is over, its checkpoints are there, and resume ends it again."""
        try:
            yield
        except (OSError, GlassformerError) as error:
            why = (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error).rstrip(".")
            way = f"Checkpoints are intact: free space and run {self.resume_command}"
            raise state.CannotSave(f"{what} cannot be written: {why}. {way}") from None

    def draw(self) -> None:
        """curves.png and curves.svg, where matplotlib is installed, and the report."""
        curve = show_curves.read_curve(self.path)
        with self.writing("curves and report"):
            try:
                for form in ("png", "svg"):
                    show_curves.save_curves([curve], self.path / f"curves.{form}")
            except GlassformerError as error:
                if "matplotlib" not in str(error):
                    raise
            (self.path / REPORT).write_text(report_markdown(report_of(self.path)), encoding="utf-8")


class Log:
    """Lines of JSON, handed on to other loggers; `offset` is how much of the file a state that is saved now may rely on."""

    def __init__(self, file: BinaryIO, loggers: Sequence[Logger] = ()) -> None:
        self.file, self.loggers = file, loggers

    def line(self, **content: Any) -> None:
        """Append one."""
        try:
            self.file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())
            self.file.flush()  # whoever follows the log sees the line now
        except OSError as error:
            raise state.CannotSave(f"{METRICS} cannot be written: {error.strerror}. Checkpoints are intact.") from None
        for logger in self.loggers:
            logger.line(**content)

    def offset(self) -> int:
        """Bytes on the disk."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            raise state.CannotSave(f"{METRICS} cannot be written: {error.strerror}. Checkpoints are intact.") from None
        return self.file.tell()


def identity(data: Dataset) -> dict[str, Any]:
    """What tells data apart: small things first, so that a difference can be named."""
    rows = {part: len(data.part(part)) for part in PARTS}
    return {"name": data.name, "task": data.task, "labels": list(data.labels), "rows": rows, "fingerprint": data.fingerprint}


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """`layers was 4 and is 2 now`, for each entry that differs; missing ones count as none."""
    return [
        f"{name} was {shown(before.get(name))} and is {shown(now.get(name))} now"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]


def next_name(data: str, runs: Path = Path("runs")) -> Path:
    """runs/topic-1, or the next number that is free."""
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in Path(data).stem or data)[:60]
    number = 1
    while (runs / f"{stem}-{number}").exists():
        number += 1
    return runs / f"{stem}-{number}"


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _write(path: Path, document: Any) -> None:
    path.write_bytes(_json(document))
