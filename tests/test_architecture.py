"""The architecture: imports between rooms, where torch may be used, file sizes; each check has a control that fails."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from readme_map import HOUSE, ROOMS

import glassformer

TORCH_ROOMS = ("model", "training", "insight")

GROUND = ("errors", "arguments")  # modules beside the rooms that every room stands on; they import no room

# Who may import whom, and nothing else. A name with a dot is the one module of that room that may be used.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "files": (),
    "spec": ("files", "configs.reading"),  # the package is called like a function: `gf.spec("bert-base")`
    "configs": ("files", "spec"),
    "checkpoints": ("files", "spec", "configs"),
    "expressions": ("files", "spec"),
    "program": ("spec",),
    "algebra": ("spec", "configs", "expressions", "program"),
    "numbers": ("files", "spec", "configs", "checkpoints", "program"),
    "answers": ("files", "spec", "configs", "expressions", "program", "algebra", "numbers"),
    "model": ("files", "spec", "configs", "checkpoints", "program.kept", "program.roles"),
    "training": ("files", "spec", "configs", "checkpoints", "program", "algebra", "model", "show.curves", "show.metric"),
    "show": ("files", "spec", "configs", "checkpoints.folder", "expressions", "program", "algebra", "numbers", "answers"),
    "encoding": ("files", "spec", "checkpoints", "program", "algebra", "model", "training"),
    "insight": ("files", "spec", "checkpoints", "program", "numbers", "model", "training", "encoding"),
    "api": tuple(room for room in ROOMS if room not in ("lab", "mcp", "cli")),
    "lab": (*[room for room in ROOMS if room not in ("mcp", "cli")], ""),
    "mcp": ("files", "spec", "configs", "expressions", "program", "algebra", "numbers", "answers", "show", "api", ""),
    # It parses options, calls a function of the door and prints; of the rooms where work is done it needs types and limits alone.
    "cli": (
        *("files", "spec", "configs", "checkpoints.folder", "show", "api", "lab", "mcp", ""),
        *(
            "algebra.memory",
            "algebra.parse_bytes",
            "program.formatter",
            "expressions.language",
            "expressions.limits",
            "numbers.Run",
        ),
        *(
            "answers.quantities.asking",
            "answers.quiz.regrading",
            "model.checkpoints.onnx_export",
            "encoding.streams",
            "encoding.jobs.job",
            "encoding.server.serving",
        ),
        *("training.data", "training.settings", "training.result", "training.distributed.processes"),
    ),
    "": ROOMS,  # the door: glassformer/__init__.py and __main__.py
}
STANDARD_LIBRARY_ONLY = ("files", "spec", "configs", "checkpoints")
OPTIONAL_IN_FILES = "tokenizers"  # asked for inside the function that needs it, and said where it is missing
VAGUE = {"common", "helper", "helpers", "misc", "util", "utils"}
LONGEST = 400
LONGEST_FUNCTION = 50


@dataclass(frozen=True)
class Import:
    """One name that a module imports."""

    module: Path  # the importing file, relative to the house
    line: int
    target: str  # dotted, absolute
    in_function: bool
    for_types: bool  # under `if TYPE_CHECKING:`, which never runs

    @property
    def room(self) -> str:
        """The room that the importing file belongs to; "" for the door."""
        first = self.module.parts[0].removesuffix(".py")
        return first if len(self.module.parts) > 1 or first in GROUND else ""

    def said(self, verb: str) -> str:
        return f"{self.module}:{self.line} {verb} {self.target}"


def modules(house: Path) -> list[Path]:
    return sorted(path.relative_to(house) for path in house.rglob("*.py"))


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def imports(house: Path) -> list[Import]:
    return [found for module in modules(house) for found in imports_of(house, module)]


def imports_of(house: Path, module: Path) -> tuple[Import, ...]:
    return imports_in((house / module).read_text(encoding="utf-8"), module)


@cache
def imports_in(text: str, module: Path) -> tuple[Import, ...]:
    def walk(node: ast.AST, in_function: bool, for_types: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for target in targets(node, module):
                yield Import(module, node.lineno, target, in_function, for_types)
        in_function = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for_types = for_types or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for child in ast.iter_child_nodes(node):
            yield from walk(child, in_function, for_types)

    return tuple(walk(parsed(text), in_function=False, for_types=False))


def targets(node: ast.Import | ast.ImportFrom, module: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    package = ["glassformer", *module.parent.parts]
    base = package[: len(package) - node.level + 1] if node.level else []
    source = ".".join([*base, *([node.module] if node.module else [])])
    # `from glassformer import spec` imports a room, and `from glassformer.show import curves` a module.
    return [f"{source}.{name.name}" for name in node.names]


def within(target: str, allowed: str) -> bool:
    return target == allowed or target.startswith(f"{allowed}.")


def forbidden_imports(house: Path) -> list[str]:
    faults = []
    for found in imports(house):
        if not within(found.target, "glassformer"):
            continue
        inner = found.target.removeprefix("glassformer").removeprefix(".")
        first = inner.split(".")[0]
        wanted = inner if first in (*ROOMS, *GROUND) else ""
        allowed = GROUND if found.room in GROUND else (*MAY_IMPORT[found.room], *GROUND) if found.room in MAY_IMPORT else None
        if allowed is None:
            faults.append(f"{found.module}: '{found.room}' is not a room of the house")
        elif not any(within(wanted, name) if name else not wanted for name in (found.room, *allowed)):
            faults.append(found.said("may not import"))
        elif first in TORCH_ROOMS and found.room not in TORCH_ROOMS and not (found.in_function or found.for_types):
            faults.append(found.said("must import inside the function that needs it:"))
    return faults


def import_cycles(house: Path) -> list[str]:
    """The first cycle among the modules; imports inside functions and for types alone count too."""
    named = {dotted(module): module for module in modules(house)}
    graph: dict[str, set[str]] = {name: set() for name in named}
    for found in imports(house):
        target = found.target if found.target in named else found.target.rpartition(".")[0]
        if target in named and target != dotted(found.module):
            graph[dotted(found.module)].add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def needed_by(house: Path, module: str) -> dict[str, int]:
    """The lines of a module and of all that it imports from its own room, directly or not."""
    named, needed, left = {dotted(path): path for path in modules(house)}, {}, [module]
    while left:
        name = left.pop()
        if name not in needed:
            needed[name] = len((house / named[name]).read_text(encoding="utf-8").splitlines())
            found = [one.target for one in imports_of(house, named[name])]
            both = [*found, *(target.rpartition(".")[0] for target in found)]
            left += [one for one in both if one in named and named[one].parts[0] == named[name].parts[0]]
    return needed


def dotted(module: Path) -> str:
    return ".".join(["glassformer", *module.with_suffix("").parts]).removesuffix(".__init__")


def long_functions(house: Path) -> list[str]:
    faults = []
    for module in modules(house):
        for node in ast.walk(parsed((house / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                faults.append(f"{module}: {node.name} has more than {LONGEST_FUNCTION} lines")
    return faults


def torch_outside_its_rooms(house: Path) -> list[str]:
    faults = []
    for found in imports(house):
        if not within(found.target, "torch") or found.room in TORCH_ROOMS or found.for_types:
            continue
        if found.room not in ("encoding", "api"):
            faults.append(found.said("has no business with"))
        elif not found.in_function:
            faults.append(found.said("must import inside the function that needs it:"))
    return faults


def guests(house: Path) -> list[str]:
    known = {*sys.stdlib_module_names, "glassformer"}
    return [
        found.said("is stdlib only, but imports")
        for found in imports(house)
        if found.room in STANDARD_LIBRARY_ONLY
        and found.target.split(".")[0] not in known
        and not (found.room == "files" and found.in_function and found.target.split(".")[0] == OPTIONAL_IN_FILES)
    ]


def vague_names(house: Path) -> list[str]:
    return [
        f"{module}: say what is in it" for module in modules(house) if VAGUE & {part.removesuffix(".py") for part in module.parts}
    ]


def poor_docstrings(house: Path) -> list[str]:
    """The first line of a docstring is the module's line in docs/map.md: a sentence, or a question and its answer."""
    faults = []
    for module in modules(house):
        lines = (ast.get_docstring(parsed((house / module).read_text(encoding="utf-8"))) or "").splitlines() or [""]
        if not lines[0]:
            faults.append(f"{module}: no docstring")
        elif lines[0][-1] not in ".?!" or (len(lines) > 1 and lines[1]):
            faults.append(f"{module}: the first line is not a whole sentence")
        elif re.search(r"[.!] +[A-Z]", lines[0]):
            faults.append(f"{module}: the first line is more than one sentence")
    return faults


def long_files(house: Path) -> list[str]:
    lengths = {module: len((house / module).read_text(encoding="utf-8").splitlines()) for module in modules(house)}
    return [f"{module}: {length} lines are two ideas" for module, length in lengths.items() if length > LONGEST]


def python_without_torch(code: str) -> subprocess.CompletedProcess[str]:
    """Run `code` where every attempt to import torch raises, even inside `except ImportError`."""
    barred = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise AssertionError("torch was imported")
sys.meta_path.insert(0, NoTorch())
"""
    return subprocess.run([sys.executable, "-c", barred + code], capture_output=True, text=True, timeout=120)


def loaded_by(code: str) -> set[str]:
    """The top-level modules that are loaded after `code` ran in a new Python."""
    report = f"{code}\nimport sys\nsys.stdout.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, timeout=120, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.fixture
def built(tmp_path: Path):
    """Builds a made-up house from file names and their contents."""

    def build(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return build


def test_rooms_import_only_what_the_design_allows():
    assert forbidden_imports(HOUSE) == []


@pytest.mark.parametrize(
    ("room", "line", "fault"),
    [
        ("spec", "import glassformer.program.axes", "may not import glassformer.program.axes"),
        ("files", "from glassformer.spec import EncoderSpec", "may not import glassformer.spec.EncoderSpec"),
        ("spec", "from glassformer import algebra", "may not import glassformer.algebra"),
        ("program", "def f():\n    from glassformer.algebra import count", "may not import glassformer.algebra.count"),
        ("algebra", "from ..numbers import run", "may not import glassformer.numbers.run"),
        ("algebra", "from glassformer import count", "may not import glassformer.count"),
        ("model", "from glassformer.program import program", "may not import glassformer.program.program"),
        ("training", "from glassformer.show import tables", "may not import glassformer.show.tables"),
        ("show", "from glassformer.model import Encoder", "may not import glassformer.model.Encoder"),
        ("cli", "def f():\n    from glassformer.model import Encoder", "may not import glassformer.model.Encoder"),
        (
            "cli",
            "from glassformer.training.settings import Settings",
            "must import inside the function that needs it: glassformer.training.settings.Settings",
        ),
        (
            "lab",
            "try:\n    import glassformer.training\nexcept ImportError: ...",
            "must import inside the function that needs it: ",
        ),
    ],
)
def test_a_forbidden_import_is_found(built, room, line, fault):
    (found,) = forbidden_imports(built(**{f"{room}__made_up": line}))
    assert re.fullmatch(rf"{room}/made_up\.py:\d+ {re.escape(fault)}.*", found)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("files", "from glassformer.errors import GlassformerError\nfrom glassformer import arguments"),
        ("algebra", "from ..program.axes import Axis\nfrom . import ledger"),
        ("training", "from glassformer.show.curves import Curve\nfrom glassformer.show import curves"),
        ("cli", "import glassformer\ndef train():\n    from glassformer.training.settings import Settings"),
        ("lab", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from glassformer.model import Encoder"),
    ],
)
def test_an_allowed_import_passes(built, room, line):
    assert forbidden_imports(built(**{f"{room}__made_up": line})) == []


def test_an_unknown_room_is_found(built):
    assert forbidden_imports(built(attic__box="import glassformer.spec")) == ["attic/box.py: 'attic' is not a room of the house"]


def test_torch_stays_in_its_rooms():
    assert torch_outside_its_rooms(HOUSE) == []


def test_torch_outside_its_rooms_is_found(built):
    house = built(
        model__encoder="import torch",
        numbers__run="def f():\n    import torch.nn",
        api__models="from torch import nn",
        encoding__streams="def f():\n    import torch",
        cli__train="def f():\n    import torch",
    )
    assert torch_outside_its_rooms(house) == [
        "api/models.py:1 must import inside the function that needs it: torch.nn",
        "cli/train.py:2 has no business with torch",
        "numbers/run.py:2 has no business with torch.nn",
    ]


def test_files_and_spec_need_nothing_but_the_standard_library():
    assert guests(HOUSE) == []


def test_a_guest_is_found(built):
    assert guests(built(spec__files="import json, yaml")) == ["spec/files.py:1 is stdlib only, but imports yaml"]


def test_a_tokenizer_is_a_guest_unless_it_is_requested_inside_a_function_of_files(built):
    asked = "def f():\n    import tokenizers"
    house = built(files__a=asked, files__b="import tokenizers", spec__c=asked)
    assert guests(house) == [
        "files/b.py:1 is stdlib only, but imports tokenizers",
        "spec/c.py:2 is stdlib only, but imports tokenizers",
    ]


def test_no_module_has_a_vague_name():
    assert vague_names(HOUSE) == []


def test_a_vague_name_is_found(built):
    house = built(spec__utils="", common__axes="", spec__commonplace="")
    assert vague_names(house) == ["common/axes.py: say what is in it", "spec/utils.py: say what is in it"]


def test_every_module_opens_with_one_sentence():
    assert poor_docstrings(HOUSE) == []


def test_a_poor_docstring_is_found(built):
    house = built(
        a="import json",
        b='"""No full stop"""',
        c='"""A sentence that goes on\nin the next line."""',
        d='"""One. And another."""',
        e='"""A question? Its answer (after Vaswani et al. 2017)."""',
    )
    assert poor_docstrings(house) == [
        "a.py: no docstring",
        "b.py: the first line is not a whole sentence",
        "c.py: the first line is not a whole sentence",
        "d.py: the first line is more than one sentence",
    ]


def test_no_file_is_longer_than_one_idea():
    assert long_files(HOUSE) == []


def test_a_long_file_is_found(built):
    assert long_files(built(a="x\n" * 400, b="x\n" * 401)) == ["b.py: 401 lines are two ideas"]


def test_no_function_is_longer_than_a_screen():
    assert long_functions(HOUSE) == []


def test_a_long_function_is_found(built):
    short, long = ("def f():\n" + lines * "    x = 1\n" for lines in (49, 50))
    assert long_functions(built(a=short, b=long)) == ["b.py: f has more than 50 lines"]


PLAIN = ("encoder", "embeddings", "attention", "core", "feed_forward", "norms", "heads")  # a forward pass, from top to bottom


def modules_run(room: str, call: Callable[[], object]) -> set[str]:
    """The modules of a room in which a function is called during `call`."""
    ran: set[str] = set()
    sys.setprofile(lambda frame, event, _: ran.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(None)
    inside = (Path(name) for name in ran)
    return {dotted(path.relative_to(HOUSE)) for path in inside if path.is_relative_to(HOUSE / room)}


def plain_passes(text: str, **fields: Any) -> set[str]:
    """The modules of `model` that run in passes of a plain encoder: with and without padding, in training and evaluation."""
    import torch

    from glassformer.model.encoder import Inputs, PlainEncoder, Wanted

    encoder = glassformer.Encoder(glassformer.spec(text, vocab=30, d_model=8, heads=2, d_ff=16, layers=2, **fields))
    tokens, real = torch.arange(8).view(2, 4), torch.tensor([[True] * 4, [True, True, False, False]])
    asked = Inputs(tokens, real, tokens % 2, torch.arange(4).expand(2, 4), predict_at=torch.tensor([1, 5]))

    def run() -> None:
        for mode in (False, True):
            encoder.train(mode)
            PlainEncoder.run(encoder, Inputs(tokens))
            PlainEncoder.run(encoder, asked, wanted=Wanted(weights=(0, 1), hidden=True))

    return modules_run("model", run)


def test_a_forward_pass_of_bert_is_read_in_seven_files_of_1200_lines():
    plain = {f"glassformer.model.{name}" for name in PLAIN}
    assert plain_passes("bert-tiny", head="pretrain") == plain_passes("bert-tiny", head="mlm") == plain
    needed = needed_by(HOUSE, "glassformer.model.encoder")
    assert sum(needed[name] for name in plain) <= 1200
    assert all(name.startswith("glassformer.model.variants.") for name in needed.keys() - plain)  # what only some models have


def test_a_variant_that_runs_is_found():
    assert "glassformer.model.variants.rotary" in plain_passes("bert-tiny", head="mlm", position="rotary", positions=None)


def test_the_imports_of_a_module_are_found(built):
    house = built(model__a="from glassformer.model import b\n", model__b="def f():\n    from glassformer.model.c import x\n",
                  model__c="import glassformer.spec\nx = 1\n", spec__d="")  # fmt: skip
    assert needed_by(house, "glassformer.model.a") == {
        "glassformer.model.a": 1,
        "glassformer.model.b": 2,
        "glassformer.model.c": 2,
    }


def test_no_module_imports_itself_through_others():
    assert import_cycles(HOUSE) == []


def test_a_cycle_is_found_even_where_it_is_for_types_alone(built):
    lazy = "def f():\n    from glassformer.b import x\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from glassformer.a import f\n"
    assert import_cycles(built(a=lazy, b="x = 1\n")) == []
    (found,) = import_cycles(built(a=lazy, b=typed))
    assert {"glassformer.a", "glassformer.b"} == set(found.split(" -> "))


def test_every_torch_free_module_imports_where_torch_cannot():
    rooms = [room for room in ROOMS if room not in (*TORCH_ROOMS, "lab")]
    names = [".".join(module.with_suffix("").parts) for module in modules(HOUSE) if module.parts[0] in rooms]
    lines = [f"import glassformer.{name.removesuffix('.__init__')}" for name in names]
    done = python_without_torch("\n".join(["import glassformer", *lines]))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not (HOUSE / "__main__.py").exists(), reason="there is no command line yet")
def test_the_command_line_counts_where_torch_cannot_be_imported():
    done = python_without_torch(
        "import runpy\nsys.argv = ['glassformer', 'count', 'bert-base']\nrunpy.run_module('glassformer', run_name='__main__')"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "109,482,240" in done.stdout


def test_importing_torch_is_found():
    done = python_without_torch("try:\n    import torch.nn\nexcept ImportError:\n    pass")
    assert done.returncode == 1
    assert "AssertionError: torch was imported" in done.stderr


def test_import_glassformer_loads_nothing_heavy():
    assert loaded_by("import glassformer") & {"numpy", "torch", "rich", "click", "safetensors"} == set()


def test_a_heavy_import_is_found():
    assert "numpy" in loaded_by("import glassformer.program.axes")


def test_a_type_checker_sees_every_public_name_and_no_other():
    tree = ast.parse((HOUSE / "__init__.py").read_text(encoding="utf-8"))
    branches = {ast.unparse(node.test): node.body for node in tree.body if isinstance(node, ast.If)}
    seen = {alias.asname or alias.name for node in branches["TYPE_CHECKING"] for alias in node.names}
    assert "*" in seen  # the words of api
    seen = seen - {"*"} | set(importlib.import_module("glassformer.api").__all__)
    assert seen == {name for name in dir(glassformer) if not name.startswith("_")}
    assert [node.name for node in branches["not TYPE_CHECKING"]] == ["__getattr__"]


ANY_ORDER = """
import importlib, sys
for name in sys.argv[1:]:
    for known in [key for key in sys.modules if key.partition(".")[0] == "glassformer"]:
        del sys.modules[known]
    importlib.import_module(name)
"""


@pytest.mark.slow
def test_every_folder_can_be_imported_first():
    """Two folders that need each other would work in one order alone."""
    folders = [path.parent for path in modules(HOUSE) if path.name == "__init__.py" and path.parent.parts]
    names = [".".join(("glassformer", *folder.parts)) for folder in folders if folder.parts[0] not in TORCH_ROOMS]
    finished = subprocess.run([sys.executable, "-c", ANY_ORDER, *names], capture_output=True, encoding="utf-8", timeout=300)
    assert (len(names) > 20, finished.stderr) == (True, "")
