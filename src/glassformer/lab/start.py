"""What the lab was started with: a spec, a checkpoint or a run, which page shows it, and which folders may be read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from urllib.parse import urlencode

from glassformer.configs.reading import Request, only_fields, preset_meant, request, request_from_words, split_words
from glassformer.errors import GlassformerError, shown
from glassformer.files.paths import no_such, path_text
from glassformer.lab.folders import Folders
from glassformer.lab.runs import RUNS, RunsFolder
from glassformer.lab.threads import Workers


@dataclass(frozen=True)
class Lab:
    """The state of a running lab, available to every page as `request.app.state.lab`."""

    port: int
    address: str = "/bench"  # the page that opens first
    given: str = ""  # what the lab was started with, as a path or a preset; empty where nothing was
    folders: Folders = field(default_factory=Folders)
    runs: RunsFolder = field(default_factory=lambda: RunsFolder(RUNS))
    data: tuple[Path, ...] = ()  # of the user's own, to train on
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    workers: Workers = field(default_factory=Workers)
    leaving: Event = field(default_factory=Event)  # set when the lab stops: streams end by themselves

    def request(self, what: str, fields: Mapping[str, str]) -> Request:
        """Return the spec requested by a page: a preset, or a file below the folders given at startup."""
        return request(preset_meant(what) or self.folders.inside(what), decoders=True, **only_fields(fields))


def start(words: Sequence[str], port: int, *, runs: Path = RUNS, data: Sequence[Path] = ()) -> Lab:
    """The lab for `glassformer lab WORDS`: nothing, a spec with fields, a checkpoint folder or a run folder.

    Runs are found and created in the folder `runs`; `data` is offered for training in addition to the built-in sets.
    """
    made = _opened(words, port)
    given = Path(made.given) if made.address.startswith("/train") else None
    folder = RunsFolder(runs, given)
    address = f"/train?{urlencode({'run': folder.name(given)})}" if given else made.address
    return replace(made, address=address, runs=folder, data=tuple(_there(path) for path in data))


def _opened(words: Sequence[str], port: int) -> Lab:
    if not words:
        return Lab(port, "/walk")
    ((name, fields),) = split_words(words, count=1)
    if (meant := preset_meant(name)) is not None:
        request_from_words(words, decoders=True)  # report an error here rather than on the page
        return Lab(port, f"/bench?{urlencode({'spec': meant, **fields})}", meant)
    path = Path(name)
    if path.is_dir() and (path / "run.json").is_file():
        _no_fields(name, fields)
        return _at(port, "/train", "run", path)
    request_from_words(words, decoders=True)
    if path.is_dir() and any(path.glob("*.safetensors*")):
        _no_fields(name, fields)
        return _at(port, "/trace", "model", path)
    return _at(port, "/bench", "spec", path, **fields)


def _no_fields(name: str, fields: Mapping[str, str]) -> None:
    if fields:
        first, value = next(iter(fields.items()))
        raise GlassformerError(
            f"{shown(first)}={shown(value)} cannot be changed in {path_text(Path(name))}: it has weights. Leave it out."
        )


def _there(path: Path) -> Path:
    if not path.exists():
        raise no_such(path, "file or folder", wanted="--data is a file or a folder that exists.")
    return path.resolve()


def _at(port: int, page: str, key: str, path: Path, **fields: str) -> Lab:
    path = path.resolve()
    folder = path if path.is_dir() else path.parent
    return Lab(port, f"{page}?{urlencode({key: str(path), **fields})}", str(path), Folders.of([folder]))
