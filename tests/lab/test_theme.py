"""The lab's colours are the palette's: parts look the same in the browser, the report and the notebook."""

import re
from pathlib import Path

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
