"""Figures: plain text, correct file types, and one line if matplotlib is missing."""

import subprocess
import sys

import pytest

from glassformer.errors import GlassformerError
from glassformer.show.figures import check_format, drawing, figures, new_figure, save_picture


def a_figure(text):
    with drawing():
        figure = new_figure(2, 1)
        figure.text(0, 0.5, text)
    return figure


@pytest.mark.parametrize(
    "text", ["$x_1$", "$unclosed", r"\frac{1}{2}", "नमस्ते", "مرحبا", "שלום", "中文", "🙂", "\u0300", "a\x00b"]
)
@pytest.mark.parametrize("form", ["png", "svg"])
def test_any_text_can_be_drawn(text, form, tmp_path):
    path = save_picture(a_figure(text), tmp_path / f"a.{form}")
    assert path.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[form])


def test_the_same_picture_is_the_same_file(tmp_path):
    for form in ("png", "svg"):
        one, other = (save_picture(a_figure("x"), tmp_path / f"{name}.{form}").read_bytes() for name in "ab")
        assert one == other


def test_an_unknown_ending_is_refused_before_anything_is_drawn():
    with pytest.raises(GlassformerError, match=r"'a.gif': the name must end in one of \.png, \.svg\."):
        check_format("a.gif")
    assert check_format("A.PNG") == "png"


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(GlassformerError, match=r"cannot be written: its folder does not exist\. Create it first\."):
        save_picture(a_figure("x"), tmp_path / "none" / "a.png")


def test_without_matplotlib_the_way_to_get_it_is_reported(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError", encoding="utf-8")
    command = [sys.executable, "-m", "glassformer", "experiment", "order", "--out", str(tmp_path / "a.png")]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 2
    assert done.stderr == "glassformer: pictures need matplotlib: pip install 'glassformer[plots]'.\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-17, "0"), (308700.4, "308,700"), (-0.04571, "−0.04571"), (2000, "2000"), (20_000, "20,000"), (1.5e9, "1.5e+09")],
)
def test_figures_are_short(value, text):
    assert figures(value) == text
