"""An audit hook over the whole suite: Python reports every file opened, module imported and process started.

Two questions are asked. Of all that the package does, everywhere in the suite: does it unpickle, import by a name that is not
its own or a dependency's, compile or run code, start a process, or reach beyond this machine? A test during which that happens
fails. And inside `watched(folder)`, around the reading of a stranger's file: does anything happen at all but reading files of
that folder? There the caller looks at what was seen. Hooks see one process; those that a test starts have their own.
"""

import os
import sys
import sysconfig
import tempfile
from collections import Counter
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
from figures import write_down

ROOT = Path(__file__).parents[1]
HOUSE = str(ROOT / "src" / "glassformer") + os.sep
LIBRARY = tuple({sysconfig.get_path("stdlib") + os.sep, os.path.realpath(sysconfig.get_path("stdlib")) + os.sep, "<frozen "})
PACKAGES = [place for place in sys.path if Path(place).name == "site-packages"]  # those that a .pth file names as well
PLACES = tuple(
    os.path.realpath(place) + os.sep
    for place in (
        *PACKAGES,
        ROOT,
        tempfile.gettempdir(),
        sys.prefix,
        sys.base_prefix,
        "/proc/self",
        "/proc/sys",
        "/sys/fs/cgroup",
    )
)
FILES = ("/proc/meminfo", "/proc/cpuinfo", "/dev/null", "/dev/urandom", "/dev/tty", "/dev/full")

# What the package may import by itself: its own modules, the standard library, and the guests that pyproject.toml names; pandas
# and dateutil, because pyarrow, whose compiled code leaves no frame, looks whether they are there.
GUESTS = set(
    """
    glassformer click numpy rich safetensors torch tokenizers matplotlib mpl_toolkits PIL starlette uvicorn anywidget ipywidgets
    IPython datasets pyarrow typst onnx onnxruntime onnxscript onnx_ir transformers sentence_transformers psutil triton pandas
    dateutil mcp mcp_types anyio pydantic wandb ray huggingface_hub sacrebleu
    """.split()
)
CODE = ("compile", "exec")
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.startfile", "pty.spawn", "webbrowser.open")
SOCKETS = ("socket.connect", "socket.getaddrinfo", "socket.sendto")
PICKLES = ("pickle.find_class",)
WATCHED = {"open", "import", *CODE, *STARTS, *SOCKETS, *PICKLES}
LIBRARY_MODULES = sys.stdlib_module_names


class Watch:
    """What was seen: totals, unexpected events, and all events while an untrusted file is read."""

    def __init__(self):
        self.counts, self.wrong, self.inside, self.busy = Counter(), [], None, False

    def see(self, event, arguments):
        if WATCHED is None or event not in WATCHED or self.busy:  # None when the process ends
            return
        self.busy = True  # looking at an event may raise others
        try:
            if self.inside is not None:
                self.inside.append((event, _told(event, arguments)))
            self.judge(event, arguments)
        finally:
            self.busy = False

    def judge(self, event, arguments):
        if event in SOCKETS:
            self.counts["sockets"] += 1
            if not local(event, arguments):
                self.wrong.append(f"{event} beyond this machine: {_told(event, arguments)}")
            return
        caller = product_frame(sys._getframe(2))
        if caller is None:
            return
        kind = "code" if event in CODE else "start" if event in STARTS else event
        self.counts[kind] += 1
        if not allowed(event, arguments):
            self.wrong.append(f"{caller} caused {event}: {_told(event, arguments)}")


WATCH = Watch()


def product_frame(frame):
    """Where in the package an event comes from: through it and the standard library alone, and not while a module is loaded."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(HOUSE):
            return None if frame.f_code.co_name == "<module>" else f"{file.removeprefix(HOUSE)}:{frame.f_lineno}"
        if not file.startswith(LIBRARY):
            return None
        frame = frame.f_back
    return None


def allowed(event, arguments):
    """Whether the package may do this on its own."""
    if event == "open":
        return not isinstance(arguments[0], str | bytes | os.PathLike) or in_place(os.fspath(arguments[0]))
    if event == "import":
        top = str(arguments[0]).split(".")[0]
        return top in GUESTS or top in LIBRARY_MODULES
    if event == "subprocess.Popen":  # ourselves again: a training that outlives the lab, a rank of many
        command = [os.fspath(word) for word in arguments[1]] if isinstance(arguments[1], list | tuple) else []
        return command[:2] == [sys.executable, "-m"] and command[2:3] and command[2].split(".")[0] in ("glassformer", "torch")
    if event == "webbrowser.open":
        return str(arguments[0]).startswith(("http://127.0.0.1:", "http://localhost:"))
    return event in CODE and _makes_a_class(sys._getframe(3))


def in_place(path):
    """Whether a file is in the source tree, the temporary folder or an installed package."""
    try:
        real = os.path.realpath(os.fsdecode(path))
    except (OSError, ValueError):
        return True  # a name that no file can have opens nothing
    return real in FILES or (real + os.sep).startswith(PLACES)


def _makes_a_class(frame):
    """namedtuple and dataclass write a constructor and run it: code of the standard library about our own names."""
    makers = ("dataclasses.py", f"collections{os.sep}__init__.py", "typing.py")
    while frame is not None and not frame.f_code.co_filename.startswith(HOUSE):
        if frame.f_code.co_filename.endswith(makers):
            return True
        if frame.f_code.co_filename.startswith("<frozen importlib"):  # the code of a module that is being imported
            return True
        frame = frame.f_back
    return False


def local(event, arguments):
    """Whether a connection or a look-up stays on this machine."""
    address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    host = address[0] if isinstance(address, tuple) else address
    if not isinstance(host, str) or host in ("", "localhost") or not isinstance(address, tuple | str):
        return True  # a path: a socket of the file system
    if event != "socket.getaddrinfo" and not isinstance(address, tuple):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == os.uname().nodename


def _told(event, arguments):
    first = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0] if arguments else ""
    return f"{first}"[:200] if isinstance(first, str | bytes | int | os.PathLike | tuple) else type(first).__name__


@contextmanager
def watched(folder):
    """Inside, every event is kept; afterwards the list holds those that are not the reading of a file in the folder."""
    home = os.path.realpath(folder) + os.sep
    seen, outer = [], WATCH.inside
    found = []
    WATCH.inside = found
    try:
        yield seen
    finally:
        WATCH.inside = outer
        seen += [one for one in found if one[0] != "open" or not os.path.realpath(one[1]).startswith(home)]


sys.addaudithook(WATCH.see)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    WATCH.counts["tests"] += 1
    result = yield
    if WATCH.wrong:
        told = "; ".join(dict.fromkeys(WATCH.wrong))
        WATCH.wrong.clear()
        pytest.fail(f"the audit hook saw what the package never does: {told}", pytrace=False)
    return result


def pytest_sessionfinish(session):
    config = session.config
    run = getattr(config, "workerinput", {}).get("testrunuid", f"alone-{os.getpid()}")
    if WATCH.counts["tests"]:  # of several workers, each has its own
        marks = config.option.markexpr
        write_down({"tally": dict(WATCH.counts), "wrong": len(WATCH.wrong), "run": run, "marks": marks})
