"""The walk and the bench as files that open from any web server: the same pages, with the server's answers stored beside them.

The walk computes in the page, from its weights. The bench shows presets as they are: each answer is asked of the lab itself, so
that a file says what the lab would say. `web/src/shared/exported.ts` reads what this module writes.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.types import Message

from glassformer.configs.presets import decoder_names, preset_names, seq2seq_names
from glassformer.configs.reading import preset_meant, request_from_words, split_words
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.lab.guard import HEADERS, TOKEN, Guard, hosts
from glassformer.lab.server import STATIC, app
from glassformer.lab.start import Lab
from glassformer.spec.fields import field_text

PORT = 1  # nobody listens: the lab is asked without a network
PAGES = ("walk", "bench")
EVERY = (*preset_names(), *decoder_names(), *seq2seq_names())
Words = tuple[str, Mapping[str, str]]  # a preset and its fields, as an address holds them


def export(words: Sequence[str], folder: Path, presets: Sequence[str] = EVERY) -> int:
    """Write the pages to a new folder and return its number of files; the bench opens at the encoder that `words` name."""
    if folder.exists():
        raise GlassformerError(f"--export {path_text(folder)} exists already: choose another name, nothing is overwritten.")
    opened = _opened(words) if words else None
    lab = Lab(PORT)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as unfinished:
        made = Path(unfinished) / folder.name
        shutil.copytree(STATIC, made / "static", ignore=shutil.ignore_patterns("index.html", "widget.js"))
        for place in ("", *PAGES):
            (made / place).mkdir(parents=True, exist_ok=True)
            (made / place / "index.html").write_text(_shell(".." if place else "."), encoding="utf-8")
        with ThreadPoolExecutor(1) as thread:  # whose event loop is its own, also in a notebook, which has one
            thread.submit(lambda: asyncio.run(_answers(app(lab), lab, made / "data", presets, opened))).result()
        count = sum(path.is_file() for path in made.rglob("*"))
        made.rename(folder)
    return count


def _shell(root: str) -> str:
    """The page, with addresses relative to the root of the export, and the lab's security policy."""
    policy = HEADERS["content-security-policy"].replace("frame-ancestors 'none'; ", "")  # which a page cannot say of itself
    head = [
        '<meta charset="utf-8" />',
        f'<meta name="glassformer-root" content="{root}" />',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}" />',
    ]
    page = (STATIC / "index.html").read_text(encoding="utf-8").replace('"/static/', f'"{root}/static/')
    return page.replace(head[0], "\n    ".join(head), 1)


async def _answers(guard: Guard, lab: Lab, folder: Path, presets: Sequence[str], opened: Words | None) -> None:
    """Every answer that the two pages ask for: a file for each encoder, the others one each, and an index."""
    folder.mkdir()
    files = {"/api/bench/fields": "fields.json", "/api/walk": "walk.bin"}
    encoders: list[Words] = [*((name, {}) for name in presets), *([opened] if opened else [])]
    for number, encoder in enumerate(encoders):
        answers = {key(url, body): json.loads(await _ask(guard, lab, url, body)) for url, body in _questions(*encoder)}
        _write(folder / f"{number}.json", answers)
        files |= dict.fromkeys(answers, f"{number}.json")
    fields = json.loads(await _ask(guard, lab, "/api/bench/fields"))
    stored = [preset for preset in fields["presets"] if preset["name"] in presets]
    _write(folder / "fields.json", {"/api/bench/fields": fields | {"presets": stored}})
    (folder / "walk.bin").write_bytes(await _ask(guard, lab, "/api/walk"))
    known = json.loads(await _ask(guard, lab, "/api/lab"))
    address = f"/bench?{urlencode({'spec': opened[0], **opened[1]})}" if opened else "/walk"
    _write(folder / "index.json", {"known": {**known, "address": address}, "files": files})


def _questions(name: str, fields: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """What the bench asks about an encoder."""
    spec = {"name": name, "fields": dict(fields)}
    for convention in ("rows", "columns"):
        asked = {"spec": spec, "convention": convention}
        yield "/api/bench/derive", {**asked, "open": None}
        yield "/api/bench/shapes", asked
        yield "/api/bench/notation", asked
    for along in ("length", "batch"):
        yield "/api/bench/cost", {"spec": spec, "along": along}


def key(url: str, body: Any = None) -> str:
    """The name of a question: its address and its body, with sorted keys and no spaces."""
    return url if body is None else f"{url} {json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"


def _opened(words: Sequence[str]) -> Words:
    """The encoder that `words` name, as an address holds it: a file becomes its fields, its path is not written down."""
    ((name, fields),) = split_words(words, count=1)
    found = request_from_words(words)
    if (meant := preset_meant(name)) is not None:
        return meant, fields
    sizes = {"batch": found.batch, "t": found.t}
    given = {**found.spec.to_dict(), **{name: size for name, size in sizes.items() if size not in (None, 1)}}
    return "encoder", {name: field_text(value) for name, value in given.items()}


async def _ask(guard: Guard, lab: Lab, url: str, body: Any = None) -> bytes:
    """The body of the lab's answer, through the same guard and routes as a browser's request."""
    sent: list[Message] = []
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"host": hosts(lab.port)[0], TOKEN: lab.token, "content-type": "application/json"}
    headers["content-length"] = str(len(content))
    scope = {
        "type": "http",
        "method": "GET" if body is None else "POST",
        "path": url,
        "raw_path": url.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await guard(scope, receive, send)
    found = b"".join(message.get("body", b"") for message in sent)
    if sent[0]["status"] != 200:
        raise GlassformerError(json.loads(found)["error"])
    return found


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
