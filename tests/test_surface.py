"""`dir(gf)`, `help(gf)` and `__all__` show the whole surface, with and without torch."""

import pydoc
import subprocess
import sys

import glassformer as gf
from glassformer.cli.main import COMMANDS

NO_TORCH = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, NoTorch())
"""
LINE = "this needs PyTorch, which is not installed: pip install 'glassformer[torch]'."


def test_all_is_the_whole_surface():
    assert sorted(gf.__all__) == sorted(set(dir(gf)) - {"__version__"})


def test_help_shows_every_function():
    page = pydoc.plain(pydoc.render_doc(gf))
    for name in ("train", "resume", "evaluate", "encode", "predict", "verify", "export", "load", "save"):
        assert f"    {name}(" in page, name
        assert name in COMMANDS or name in ("load", "save")


def test_without_torch_every_name_is_there_and_says_what_to_install():
    code = """
from glassformer import *
for call in (lambda: load("x"), lambda: Encoder("bert-tiny"), lambda: save(None, "x"), lambda: train("digits")):
    try:
        call()
    except GlassformerError as error:
        print(error)
print(count("bert-tiny").total)
"""
    done = subprocess.run([sys.executable, "-c", NO_TORCH + code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.splitlines(), done.stderr) == ([*[LINE] * 4, str(gf.count("bert-tiny").total)], "")
