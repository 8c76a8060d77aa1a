"""The lab's colours are the palette's: parts look the same in the browser, the report and the notebook."""

import re
from pathlib import Path

import numpy as np
import pytest

from glassformer.show.palette import DARK, LIGHT

THEME = Path(__file__).parents[2] / "web/src/shared/theme.css"
NAMES = {"paper": "page", "paper-soft": "raised", "ink": "ink", "ink-soft": "quiet", "line": "line", "accent": "act"}


@pytest.mark.parametrize(("selector", "theme"), [(":root", LIGHT), (':root[data-theme="dark"]', DARK)])
def test_the_style_sheet_has_the_colours_of_the_palette(selector, theme):
    block = re.search(rf"^{re.escape(selector)} \{{(.*?)^\}}", THEME.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    found = dict(re.findall(r"--([\w-]+): (#\w+);", block))
    assert {name: found[name] for name in NAMES} == {name: getattr(theme, field) for name, field in NAMES.items()}
    assert {name.removeprefix("part-"): value for name, value in found.items() if name.startswith("part-")} == {
        **theme.parts,
        "layer": theme.quiet,  # what holds several parts
    }


# From linear RGB to OKLab (Ottosson 2020), and how linear RGB looks without one kind of cone (Machado et al. 2009, severity 1).
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
SIGHTS = {
    "all cones": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}


def linear(colour):
    part = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) + 0.05 for colour in (one, other))
    return high / low


@pytest.mark.parametrize("selector", [":root", ':root[data-theme="dark"]'])
def test_ten_runs_have_colours_that_everybody_can_tell_apart(selector):
    """OKLab distances of at least 0.15, without one kind of cone 0.09; a contrast of 3 with the page (WCAG, graphics)."""
    block = re.search(rf"^{re.escape(selector)} \{{(.*?)^\}}", THEME.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    found = dict(re.findall(r"--([\w-]+): (#\w+);", block))
    runs = [found[f"run-{run}"] for run in range(10)]
    assert min(contrast(colour, found["paper"]) for colour in runs) >= 3
    for name, sight in SIGHTS.items():
        seen = np.clip(np.array([linear(colour) for colour in runs]) @ np.transpose(sight), 0, 1)
        lab = np.cbrt(seen @ CONES.T) @ LAB.T
        apart = np.linalg.norm(lab[:, None] - lab[None], axis=2) + np.eye(10)
        assert apart.min() >= (0.15 if name == "all cones" else 0.09), (name, np.unravel_index(apart.argmin(), apart.shape))
