"""Mutants of valid files, from a seed: flipped bytes, and documents that are still JSON or TOML but have wrong content."""

# ruff: noqa: E501
import copy
import json
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from glassformer.errors import GlassformerError

LONGEST_MESSAGE = 300
SLOWEST = 1.0  # seconds of processor time for one file
ODD = [
    None, True, False, 0, 1, -1, 2, 7, 64, 2**31, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e-300, 1e300, float("nan"), float("inf"),
    "", " ", "0", "-1", "x", "x" * 5000, "../../x", "/etc/passwd", "a\nb", "\0", "\ud800", "\u202e", "<script>", "__import__('os').system('id')",
    "os.system", "${HOME}", "{0.__class__}", "9**9**9", "[[1,2],[3", "none", "auto", "true", "1e999", "1/0", "√-1", [], [[]], {}, [None], [1, [2, [3]]],
    [0] * 300, {"": {}}, {"x": [{}]}, {"__class__": "x"}, {"auto_map": {"AutoModel": "evil--x.Model"}}, [[1, 2], [3]], [["a"]], [1e400, -1e400], [True, 2],
]  # fmt: skip

PIECES = [b"{", b"}", b"[", b'"', b",", b"\xff", b"\0", b"null", b"1e999", b"NaN", b"\\ud800", b"-"]


def places_in(document, path=()):
    """The way to every value of a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places_in(value, (*path, key))


def changed(document, chance):
    """A document with one to three of its values replaced, taken out, copied or renamed."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        places = list(places_in(document))
        if not places:
            break
        *way, last = chance.choice(places)
        parent = document
        for key in way:
            parent = parent[key]
        kind = chance.randrange(8)
        if kind == 0:
            del parent[last]
        elif kind == 1 and isinstance(parent, dict):
            parent[str(chance.choice([*ODD[20:], "Layers", f"{last} "]))[:600]] = parent.pop(last)
        elif kind == 2 and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        elif kind == 3 and isinstance(parent[last], int | float):
            parent[last] = parent[last] * chance.choice([-1, 10, 1000, 10**6]) + chance.choice([0, 1, -1])
        else:
            parent[last] = copy.deepcopy(chance.choice(ODD))
    return document


def damaged(data, chance):
    """Bytes with a few changed, cut out, doubled or moved, or cut off at some place."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        if not data:
            break
        place, length = chance.randrange(len(data)), chance.choice([1, 1, 2, 7, 64])
        kind = chance.randrange(6)
        if kind == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place] = chance.randrange(256)
        elif kind == 2:
            del data[place : place + length]
        elif kind == 3:
            data[place:place] = data[place : place + length] * chance.choice([1, 2, 50])
        elif kind == 4:
            del data[place:]
        else:
            data[place : place + length] = chance.choice(PIECES)
    return bytes(data)


def mutant_of_json(document, chance):
    """A JSON file, half of the time still JSON (with a NaN now and then, as Python writes it)."""
    if chance.random() < 0.5:
        return json.dumps(changed(document, chance)).encode("utf-8", "surrogatepass")
    return damaged(json.dumps(document).encode(), chance)


@contextmanager
def no_hang(seconds=60):
    """A reader that never comes back fails the test instead of stopping the suite."""

    def stop(number, frame):
        raise AssertionError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def peak_megabytes():
    """The most memory that this process has held. (getrusage would count what its parent held when it was started.)"""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def fuzz(read, files, *, limit=SLOWEST):
    """Read every file: an answer or one line of the one class. How many were refused, the slowest, the longest line, the growth."""
    refused, slowest, longest, said = 0, 0.0, 0, set()
    before = peak_megabytes()
    count = 0
    for file in files:
        count += 1
        start = time.process_time()
        with no_hang():
            try:
                read(file)
            except GlassformerError as error:
                message = str(error)
                assert "\n" not in message
                assert len(message) <= LONGEST_MESSAGE, message
                refused, longest = refused + 1, max(longest, len(message))
                said.add(message[:40])
        spent = time.process_time() - start
        assert spent < limit, (spent, file if len(str(file)) < 3000 else "")
        slowest = max(slowest, spent)
    return Told(count, refused, slowest, longest, len(said), peak_megabytes() - before)


class Told:
    """Describes what a fuzzer found."""

    def __init__(self, count, refused, slowest, longest, wordings, grown):
        self.count, self.refused, self.slowest, self.longest = count, refused, slowest, longest
        self.wordings, self.grown = wordings, grown

    def __str__(self):
        return (
            f"{self.count:,} mutants, {self.refused:,} refused: 0 deaths, 0 hangs, one class, lines of at most {self.longest} "
            f"characters, the slowest {1000 * self.slowest:.1f} ms, +{self.grown:.0f} MB"
        )
