"""The worker process: reads one call per line, answers with one line, and can be stopped without stopping the server.

A Python audit hook prevents it from writing files, from reading files outside the given folders and the installed packages,
and from opening connections, independent of the arguments of a tool.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from glassformer.errors import GlassformerError
from glassformer.mcp.folders import Folders
from glassformer.mcp.refusals import reworded
from glassformer.mcp.tools import call

MOST_MEMORY = 6 * 2**30
BUG = "this is a bug in glassformer, please report it with the call; rephrasing the call may help"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind", "subprocess.Popen", "os.system")


def main() -> None:
    """Answer calls until the server closes the pipe."""
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # redirect prints to standard error
    sys.dont_write_bytecode = True
    folders = Folders.of(sys.argv[1:])
    os.chdir(folders.roots[0] if folders.roots else Path(sys.prefix))  # relative paths in expressions are resolved here
    _limit_memory()
    import glassformer.api  # noqa: F401  imported before the first call

    sys.addaudithook(Guard(folders).see)
    serve(calls, answers, folders)


def serve(calls: BinaryIO, answers: BinaryIO, folders: Folders) -> None:
    """Answer lines of JSON: `{"tool": …, "arguments": …}` in, `{"document": …}` or `{"error": …}` out."""
    for line in calls:
        asked = json.loads(line)
        said = answer(asked["tool"], asked["arguments"], folders)
        answers.write(json.dumps(said, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        answers.flush()


def answer(tool: str, arguments: Mapping[str, Any], folders: Folders) -> dict[str, Any]:
    """Return the document of a call, or a one-line error."""
    try:
        return {"document": call(tool, arguments, folders)}
    except GlassformerError as error:
        return {"error": reworded(str(error))}
    except MemoryError:
        return {"error": f"this needs more than {MOST_MEMORY // 2**30} GiB of memory: ask for a smaller t, batch or model."}
    except RecursionError:
        return {"error": "this is nested too deeply: split it into smaller expressions."}
    except OSError as error:
        return {"error": f"{Path(str(error.filename)).name if error.filename else 'a file'} cannot be read: {error.strerror}."}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        sys.stderr.write(f"glassformer mcp: {tool}: {type(error).__name__} at {place.filename}:{place.lineno}: {error}\n")
        return {"error": f"the calculation failed ({type(error).__name__}): {BUG}."}


class Guard:
    """The audit hook: only files in the folders and the installed packages may be opened, and only for reading."""

    def __init__(self, folders: Folders) -> None:
        package = Path(__file__).resolve().parents[2]
        places = (*folders.roots, package, Path(sys.prefix), Path(sys.base_prefix), *map(Path, filter(None, sys.path)))
        self.places = tuple(dict.fromkeys(os.path.realpath(place) + os.sep for place in places))

    def see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in CONNECTS:
            raise GlassformerError("tools cannot open connections or start programs.")
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if arguments[2] & WRITES or not (path == os.devnull or path.startswith(self.places)):
                raise GlassformerError("this file is not in the folders of this server: give a path below one of them.")


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    main()
