"""The output folder of a job: its lock, the journal of finished shards, the manifest, and atomically written files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from glassformer.encoding.engines.choice import GRAPH
from glassformer.encoding.jobs.records import is_record, is_shard_file, read_journal, read_manifest
from glassformer.encoding.jobs.shards import BAD, Shard
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import path_text

MANIFEST, JOURNAL, LOCK, SHARDS, BAD_ROWS = "manifest.json", "journal.jsonl", ".lock", "shards", "bad_rows.jsonl"
UNFINISHED = ".unfinished-"
EXPORTING = ".onnx-"  # a graph that was being written
OURS = (MANIFEST, JOURNAL, LOCK, SHARDS, BAD_ROWS)
PIECE = 1 << 22


class JobFolder:
    """A folder that holds one job. Only the process that holds the lock writes here, and on a cluster its actors write shards."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = secrets.token_hex(4)  # in the names of unfinished files, so that two processes never write into one
        self.shards = path / SHARDS
        self.job: dict[str, Any] | None = None  # as found in the folder, then as run
        self.known: dict[str, dict[str, Any]] = {}
        self.journal: Any = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if it is missing, hold its lock, and read what is finished."""
        with self.writing():
            self._refuse_strange()
            self.shards.mkdir(parents=True, exist_ok=True)
            lock = (self.path / LOCK).open("a+")
        with lock:
            with self.writing():
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise GlassformerError(
                        f"--out {path_text(self.path)} is in use by another job: wait until it ends, or choose another folder."
                    ) from None
                self._read()
            try:
                yield
            finally:
                if self.journal is not None:
                    self.journal.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn an error of the file system into one line."""
        try:
            yield
        except OSError as error:
            lost = "" if self.shards.is_dir() else " The folder is no longer there."
            why = error.strerror or type(error).__name__
            raise GlassformerError(
                f"--out {path_text(self.path)} cannot be written: {why}.{lost} Finished shards are kept: "
                "run the same command again to continue."
            ) from None

    def _refuse_strange(self) -> None:
        """Refuse a folder with files of others, before anything is written there."""
        names = sorted(entry.name for entry in self.path.iterdir()) if self.path.is_dir() else []
        strange = [name for name in names if name not in OURS and not name.startswith((UNFINISHED, EXPORTING, GRAPH))]
        if strange and MANIFEST not in names and JOURNAL not in names:
            raise GlassformerError(
                f"--out {path_text(self.path)} contains files that do not belong to a job, such as {shown(strange[0])}: "
                "choose a new folder."
            )

    def _read(self) -> None:
        lines: list[dict[str, Any]] = []
        for name, read in ((MANIFEST, read_manifest), (JOURNAL, read_journal)):
            if (self.path / name).is_file():
                lines += read(self.path / name)
        jobs = [line["job"] for line in lines if isinstance(line, dict) and isinstance(line.get("job"), dict)]
        self.job = jobs[0] if jobs else None
        self.known = {line["name"]: line for line in lines if is_record(line)}
        for left in (*self.path.glob(f"{UNFINISHED}*"), *self.shards.glob(f"{UNFINISHED}*")):
            left.unlink()
        for exporting in self.path.glob(f"{EXPORTING}*"):
            shutil.rmtree(exporting)

    def require(self, job: dict[str, Any]) -> None:
        """Refuse a job with other settings than those of the shards that are here."""
        if self.job is not None and self.job != job:
            key = next(key for key in sorted({*self.job, *job}) if self.job.get(key) != job.get(key))
            was, now = (shown(one.get(key), limit=50) for one in (self.job, job))
            raise GlassformerError(
                f"--out {path_text(self.path)} contains another job: its {key} is {was}, and now {now}. Choose a new folder."
            )
        self.job = job

    def finished(self, name: str, source: str) -> dict[str, Any] | None:
        """Return the record of a shard if it was made from these rows and its files are as they were written."""
        record = self.known.get(name)
        if record is None or record["source_sha256"] != source:
            return None
        whole = all(file_sha256(self.shards / file) == about["sha256"] for file, about in record["files"].items())
        return record if whole else None

    def write(self, name: str, source: str, shard: Shard) -> dict[str, Any]:
        """Write the files of a shard and return its record."""
        files = {}
        with self.writing():
            for ending, data in shard.files.items():
                self._write(self.shards / f"{name}{ending}", data)
                files[f"{name}{ending}"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        return {"name": name, "source_sha256": source, **shard.counts(), "files": files}

    def note(self, record: dict[str, Any]) -> None:
        """Write the line of a shard in the journal."""
        with self.writing():
            if self.journal is None:
                self._begin()
            self.journal.write(json.dumps(record).encode() + b"\n")
            self.journal.flush()
            os.fsync(self.journal.fileno())

    def _begin(self) -> None:
        """Start a journal with the known shards; the manifest is removed, since the folder is not complete."""
        lines = [json.dumps({"job": self.job}), *(json.dumps(record) for record in self.known.values())]
        self._write(self.path / JOURNAL, "".join(f"{line}\n" for line in lines).encode())
        (self.path / MANIFEST).unlink(missing_ok=True)
        self.journal = (self.path / JOURNAL).open("ab")

    def first_bad_row(self, record: dict[str, Any]) -> str:
        """Return the first line of the bad rows of a finished shard."""
        with self.writing(), (self.shards / f"{record['name']}{BAD}").open(encoding="utf-8", errors="replace") as file:
            return shown(file.readline().strip(), limit=200)

    def complete(self, manifest: dict[str, Any]) -> None:
        """Write bad_rows.jsonl and the manifest, and remove shards of rows that the inputs no longer have."""
        records = manifest["shards"]
        keep = {file for record in records for file in record["files"]}
        with self.writing():
            for file in self.shards.iterdir():
                if file.name not in keep and is_shard_file(file.name):
                    file.unlink()
            unfinished = self.path / f"{UNFINISHED}{BAD_ROWS}"
            with unfinished.open("wb") as out:
                for name in (name for record in records for name in record["files"] if name.endswith(BAD)):
                    with (self.shards / name).open("rb") as part:
                        shutil.copyfileobj(part, out)
                out.flush()
                os.fsync(out.fileno())
            unfinished.replace(self.path / BAD_ROWS)
            self._write(self.path / MANIFEST, (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
            (self.path / JOURNAL).unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file under another name, then rename it: under its own name it is whole or absent."""
        unfinished = path.parent / f"{UNFINISHED}{self.writer}-{path.name}"
        try:
            with unfinished.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # so that the name survives a power failure, too
        finally:
            os.close(folder)


def file_sha256(path: Path) -> str | None:
    """Return the sha256 of a file, or None if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()
