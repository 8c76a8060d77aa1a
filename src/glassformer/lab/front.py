"""The static front end: a fixed mapping from addresses to bytes; an address is never used as a file path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path
from types import MappingProxyType

from starlette.responses import Response

SHELL = "index.html"
TYPES = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".html": "text/html"}


@dataclass(frozen=True)
class Front:
    """The files that need no key: the empty page and its assets. They contain no user data."""

    files: MappingProxyType[str, tuple[bytes, str]]

    @classmethod
    def read(cls, folder: Path, pages: Iterable[str]) -> Front:
        """Every file of the built front end under /static/, and the one HTML page at the address of each page."""
        there = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        files = {f"/static/{path.relative_to(folder).as_posix()}": (path.read_bytes(), _type(path)) for path in there}
        shell = files.pop(f"/static/{SHELL}")
        return cls(MappingProxyType({**files, **dict.fromkeys(["/", *pages], shell)}))

    def at(self, address: str) -> Response:
        """Return the file at an address; for an unknown page, the HTML page itself, which reports the error."""
        if address in self.files:
            body, kind = self.files[address]
            return Response(body, media_type=kind)
        if address.startswith("/static/"):
            return Response("there is no such file.", 404, media_type="text/plain")
        body, kind = self.files["/"]
        return Response(body, 404, media_type=kind)


def _type(path: Path) -> str:
    return TYPES.get(path.suffix) or guess_type(path.name)[0] or "application/octet-stream"
