"""The run folder: self-contained, so that a run can be inspected, resumed and repeated from it alone.

run.json       format, data (source, options, fingerprint, labels, licence), predictions, parameters, threads
spec.json      settings.json      tokenizer.json (texts)
start/         the initial weights, if they come from a checkpoint
metrics.jsonl  one line per logged step and per epoch
checkpoints/   what resume needs: the last few and the best
tokens/        token ids of larger data, so that resume need not tokenize again; may be deleted
best/  last/   weights, ready to load: in the layout of transformers if one of its classes fits the encoder, else in our own
curves.png     curves.svg         report.md
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import glassformer.show.curves as show_curves
from glassformer.configs.reading import from_document, is_there
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.paths import no_such, path_text
from glassformer.model import Encoder
from glassformer.model.checkpoints.export import save
from glassformer.model.checkpoints.folders import sync, vacant, whole
from glassformer.model.sentences.settings import note_context
from glassformer.spec import EncoderSpec
from glassformer.spec.viewed import Viewed
from glassformer.training import state
from glassformer.training.choosing import check_choice, parameter_counts
from glassformer.training.data.dataset import PARTS, Dataset
from glassformer.training.data.prepare import check_fits
from glassformer.training.distributed.processes import first, from_first
from glassformer.training.loggers import STOP, Logger
from glassformer.training.pace import threads_for
from glassformer.training.published import describe_tokens, describe_writing, publish, written_tokens
from glassformer.training.report import report_markdown, report_of
from glassformer.training.settings import Settings
from glassformer.training.starting import FOLDER as START
from glassformer.training.starting import Start
from glassformer.training.tasks import TASKS
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
        """Create a run folder; `source` holds the arguments of `load_data`, which resume uses again.

        `start` is a checkpoint to start from. Its weights are copied into the folder, so it is not needed again.
        """
        check_fits(data.task, settings.augment, settings.context)
        began = {} if start is None else start.about
        check_choice(settings.to_dict(), checkpoint=start is not None)
        about: dict[str, Any] = {"format": FORMAT, "data": {"source": source, **identity(data)}}
        about |= {"notes": list(data.notes), "provenance": asdict(data.provenance), "predicted": predicted or {}, "start": began}
        about |= {"metric": TASKS[data.task].measured_by(settings.best_by)._asdict()}
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
        """Open a folder that `create` made, with this version or an older one."""
        path = Path(path)
        if not is_there(str(path)):
            raise no_such(path, "folder", wanted="'glassformer train' creates a run.")
        if not (path / RUN).is_file():
            runs = show_curves.runs_in(path)
            way = f"It contains runs: give {path_text(runs[0])} or another" if runs else "'glassformer train' creates one"
            raise GlassformerError(f"{path_text(path)} is not a run folder: it has no {RUN}. {way}.")
        about = read_document(path / RUN)
        version = about.get("format")
        if not isinstance(version, int) or version > FORMAT:
            raise GlassformerError(
                f"{path_text(path)} was written by a newer version of glassformer (format {shown(version)}; this version "
                f"reads up to {FORMAT}). Update glassformer; nothing was changed."
            )
        spec, _ = from_document(read_document(path / SPEC), source=SPEC)
        settings = Settings.from_dict(read_document(path / SETTINGS))
        tokenizer = Tokenizer.load(path / TOKENIZER) if (path / TOKENIZER).is_file() else None
        return cls(path.absolute(), spec, settings, tokenizer, about)

    @property
    def checkpoints(self) -> Path:
        """The folder of the saved states."""
        return self.path / "checkpoints"

    @property
    def kept_ids(self) -> Path:
        """The folder of the token ids of the data, which a resumed run reads again."""
        return self.path / "tokens"

    @property
    def best_weights(self) -> Path:
        """The folder of the weights of the best step, saved without the optimizer."""
        return self.checkpoints / "best"

    @property
    def epoch_weights(self) -> Path:
        """The folder of the weights after the last epochs, for `average`."""
        return self.checkpoints / "epochs"

    @property
    def resume_command(self) -> str:
        """The shell command that resumes this run."""
        return f"glassformer resume {shlex.quote(str(self.path))}"

    @property
    def metrics(self) -> Path:
        """The path of the log."""
        return self.path / METRICS

    def with_settings(self, **changed: Any) -> Run:
        """Return the run with some settings changed, and update its folder."""
        settings = self.settings.replace(**changed)
        temporary = self.path / f"{SETTINGS}.tmp"
        state.write(temporary, _json(settings.to_dict()))
        temporary.replace(self.path / SETTINGS)
        sync(self.path)
        return Run(self.path, self.spec, settings, self.tokenizer, self.about)

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must match: spec, settings and tokenizer."""
        tokenizer = None if self.tokenizer is None else self.tokenizer.fingerprint
        return {"spec": self.spec.to_dict(), "settings": self.settings.to_dict(), "tokenizer": tokenizer}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the run; the system releases it even if the process is killed."""
        with (self.path / LOCK).open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                who = file.read(20).strip() or "another process"
                raise GlassformerError(
                    f"{path_text(self.path)} is being trained by process {shown(who)}: wait until it ends."
                ) from None
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)  # a leftover id means that a process was killed

    def sweep(self) -> None:
        """Remove partial files of killed processes; call it only while holding the lock."""
        for folder in (self.checkpoints, self.best_weights, self.epoch_weights):
            state.sweep(folder)
        left = (path for path in self.path.iterdir() if UNFINISHED.fullmatch(path.name))
        for path in left:
            shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def log(self, size: int, loggers: Sequence[Logger], encoder: Encoder) -> Iterator[Log]:
        """Open the log, truncated to its size at the last saved state; later steps are computed again."""
        for begin in [getattr(logger, "begin", None) for logger in loggers]:
            if begin is not None:
                begin(self, encoder)
        file = self.metrics.open("ab")
        try:
            file.truncate(size)
            yield Log(file, loggers)
        finally:
            with suppress(OSError):  # a full disk was reported before; buffered lines are computed again
                file.close()

    def export(self, name: str, encoder: Encoder, labels: tuple[str, ...]) -> None:
        """Write weights to best/ or last/."""
        task = TASKS[self.about["data"]["task"]].configured(self.settings)
        with self.replacing(name) as fresh:
            start, beside = self.about.get("start", {}), self.path / START
            trained = self.settings.train_only
            tokens, near = written_tokens(self.spec, self.tokenizer), beside if beside.is_dir() else None
            publish(encoder, fresh, labels, start=start, beside=near, trained=trained, also=task.config(), tokens=tokens)
            describe_writing(fresh, tokens)
            if self.tokenizer is not None and not (fresh / TOKENIZER).exists():
                self.tokenizer.save(fresh / TOKENIZER)
                describe_tokens(fresh)
            note_context(fresh, self.settings.context)
            task.finish(fresh, encoder.spec, self.settings)

    def copy_export(self, source: str, name: str) -> None:
        """Write the weights of last/ to best/."""
        with self.replacing(name) as fresh, whole(fresh) as unfinished:
            shutil.copytree(self.path / source, unfinished, dirs_exist_ok=True)

    @contextmanager
    def replacing(self, name: str) -> Iterator[Path]:
        """A folder to fill, in place of best/ or last/: an existing folder is replaced only by a complete one."""
        target, fresh, old = (self.path / one for one in (name, f"{name}.new", f"{name}.old"))
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)
        with self.writing(f"{name}/"):
            yield fresh
            if target.exists():
                target.rename(old)
            fresh.rename(target)
            sync(self.path)
        shutil.rmtree(old, ignore_errors=True)

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Report a write error in one line: the checkpoints are intact, and resume repeats the final step."""
        try:
            yield
        except (OSError, GlassformerError) as error:
            why = (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error).rstrip(".")
            way = f"Checkpoints are intact: free space and run {self.resume_command}"
            raise state.CannotSave(f"{what} cannot be written: {why}. {way}") from None

    def draw_curves(self) -> None:
        """Write curves.png and curves.svg, if matplotlib is installed."""
        with self.writing("curves"):
            show_curves.save_pictures([show_curves.read_curve(self.path)], self.path)

    def write_report(self) -> None:
        """Write the report."""
        with self.writing("report"):
            (self.path / REPORT).write_text(report_markdown(report_of(self.path)), encoding="utf-8")


def made_by_first(make: Callable[[], Run]) -> Run:
    """Let the first process create or change a run; the other processes open the resulting folder."""
    made: list[Run] = []

    def work() -> str:
        made.append(make())
        return str(made[0].path)

    path = from_first(work)
    if first():
        return made[0]
    if not Path(path).is_dir():
        raise GlassformerError(
            f"{path} is not visible on every machine: all processes need the same run folder. Put it on a shared disk."
        )
    return Run.open(path)


class NoLog:
    """A log that writes nothing, for processes other than the first."""

    stopped = False

    def line(self, **content: Any) -> None: ...

    def offset(self) -> int:
        return 0


class Log:
    """Writes JSON lines and passes them on to other loggers; `offset` is the length of the log on disk."""

    def __init__(self, file: BinaryIO, loggers: Sequence[Logger] = ()) -> None:
        self.file, self.loggers = file, loggers
        self.stopped = False  # whether a logger asked for the end of the run

    def line(self, **content: Any) -> None:
        """Append one line."""
        try:
            self.file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())
            self.file.flush()  # make the line visible to readers of the log
        except OSError as error:
            raise state.CannotSave(f"{METRICS} cannot be written: {error.strerror}. Checkpoints are intact.") from None
        for logger in self.loggers:
            self.stopped |= logger.line(**content) == STOP

    def offset(self) -> int:
        """Return the number of bytes that are safely on disk."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            raise state.CannotSave(f"{METRICS} cannot be written: {error.strerror}. Checkpoints are intact.") from None
        return self.file.tell()


def identity(data: Dataset) -> dict[str, Any]:
    """Return what identifies the data, small items first, so that a difference can be named."""
    rows = {part: len(data.part(part)) for part in PARTS}
    return {"name": data.name, "task": data.task, "labels": list(data.labels), "rows": rows, "fingerprint": data.fingerprint}


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return `layers was 4 and is 2 now` for each entry that differs; a missing entry counts as None."""
    return [
        f"{name} was {shown(before.get(name))} and is {shown(now.get(name))} now"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]


def next_name(data: str, runs: Path = Path("runs")) -> Path:
    """Return runs/topic-1, or the next free number."""
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in Path(data).stem or data)[:60]
    number = 1
    while (runs / f"{stem}-{number}").exists():
        number += 1
    return runs / f"{stem}-{number}"


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _write(path: Path, document: Any) -> None:
    path.write_bytes(_json(document))
