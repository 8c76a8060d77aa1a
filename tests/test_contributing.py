"""The first change that CONTRIBUTING.md describes is made in a copy of the package, and the tests there know the new name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
USED = """
import torch

import glassformer as gf
from glassformer.model import fast


def test_a_clipped_activation_is_counted_explained_saved_and_made_fast(tmp_path):
    assert gf.__file__.startswith({copy!r}), gf.__file__
    fields = dict(d_model=8, heads=2, d_ff=12, layers=1, vocab=20)
    spec = gf.spec(**fields, activation="clipped_swiglu")
    assert gf.count(spec).total == gf.count(gf.spec(**fields, activation="swiglu")).total
    assert "clipped_silu" in str(gf.notation(spec))
    run = gf.run(spec, t=3, seed=1)
    name = next(step.output.name for step in run.program.steps if step.role == "gated ffn activation")
    assert "sigmoid" in str(run.explain(name, batch=0, t=1, d_ff=2))
    encoder, tokens = gf.Encoder(spec), torch.arange(6).view(2, 3)
    states = encoder.eval()(tokens).states
    gf.save(encoder, tmp_path / "saved")
    assert torch.equal(gf.load(tmp_path / "saved").encoder(tokens).states, states)
    assert torch.equal(fast.apply(encoder)(tokens).states, states)
"""


class Change(NamedTuple):
    """One replacement of the diff."""

    file: str
    old: str
    new: str


def changes() -> Iterator[Change]:
    diff = re.search(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)
    assert diff
    for part in re.split(r"(?m)^--- a/.*\n", diff[1])[1:]:
        head, rest = part.split("\n", 1)
        for old, new in re.findall(r"(?m)^-(.*)\n((?:^\+.*\n?)+)", rest):
            yield Change(head.removeprefix("+++ b/"), old, re.sub(r"(?m)^\+", "", new.rstrip("\n")))


def test_an_activation_is_added_in_three_files(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    made = list(changes())
    for change in made:
        file = tmp_path / change.file
        text = file.read_text()
        assert text.count(change.old) == 1, change
        file.write_text(text.replace(change.old, change.new))
    assert len({change.file for change in made}) == 3
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    files = sorted(str(tmp_path / file) for file in {change.file for change in made})
    for lint in ("check", "format --check"):
        run("-m", "ruff", *lint.split(), "--no-cache", *files)
    (tmp_path / "test_used.py").write_text(USED.format(copy=str(tmp_path)))
    told = run("-m", "pytest", "-vv", "-p", "no:cacheprovider", "-k", "clipped or in_place or limits_of_each_family",
               "tests/model/test_feed_forward.py", "tests/model/fast/test_feed_forward.py", "tests/program/test_pointwise.py",
               "tests/configs/test_huggingface.py", str(tmp_path / "test_used.py"))  # fmt: skip
    assert told.count("clipped_silu") >= 5, told
    assert re.search(r"test_a_clipped_activation_is_counted_explained_saved_and_made_fast .*PASSED", told), told
