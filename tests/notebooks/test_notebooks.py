"""The notebooks: current, small, valid, with the output that running them gives."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
MOST_BYTES = 500_000


def builder():
    found = importlib.util.spec_from_file_location("notebook_builder", FOLDER / "build.py")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


BUILD = builder()
NAMES = [path.stem for path in BUILD.scripts()]


def script(name):
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def stored(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def said(cell):
    """What a code cell prints and shows, as text."""
    return [output.get("text") or output["data"]["text/plain"] for output in cell["outputs"]]


def fresh(cell):
    return "varies" in cell["metadata"].get("tags", ())


def test_there_are_three():
    assert NAMES == ["1-the-algebra-of-bert", "2-attention-by-hand", "3-train-look-inside-check"]
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_small_and_valid(name):
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MOST_BYTES
    notebook = stored(name)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[\w-]{1,64}", one) for one in ids)
    for cell in notebook["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"} | (
            {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        )
        assert set(cell) == wanted
        for output in cell.get("outputs", ()):
            assert output["output_type"] in ("stream", "execute_result")
    assert not any("/tmp/" in line or "/home/" in line for cell in notebook["cells"] for text in said_all(cell) for line in text)


def said_all(cell):
    return [
        lines for output in cell.get("outputs", ()) for lines in (output.get("text"), *output.get("data", {}).values()) if lines
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_has_the_cells_of_its_script(name):
    sources = [BUILD.COMMAND.sub(r"!\1", cell.source) for cell in BUILD.cells(script(name))]
    assert ["".join(cell["source"]) for cell in stored(name)["cells"]] == sources, "run `make notebooks`"


@pytest.mark.parametrize("name", [*NAMES[:2], pytest.param(NAMES[2], marks=pytest.mark.slow)])  # the third trains
def test_a_notebook_shows_what_running_it_shows(name, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before, now = stored(name)["cells"], BUILD.built(script(name), name)["cells"]
    for old, new in zip(before, now, strict=True):
        if old["cell_type"] == "code" and not fresh(old):
            assert said(new) == said(old), f"{name}, {old['id']}: run `make notebooks`"
            assert ["text/html" in output.get("data", {}) for output in new["outputs"]] == [
                "text/html" in output.get("data", {}) for output in old["outputs"]
            ]


def test_results_are_kept_as_html_without_ids_and_without_scripts_of_their_own():
    shown = 0
    for name in NAMES:
        for cell in stored(name)["cells"]:
            for output in cell.get("outputs", ()):
                html = "".join(output.get("data", {}).get("text/html", ()))
                if html:
                    shown += 1
                    outside = re.sub(r'srcdoc="[^"]*"', "", html)  # the page to explore has a frame of its own
                    assert html.startswith('<div class="glassformer">')
                    assert not re.search(r"\sid=|<script|\son\w+=|https?://(?!www\.w3\.org/2000/svg)", outside)
    assert shown >= 15


def test_a_script_is_cut_into_cells():
    text = "# a note\n\n# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nx = 1\n\n# %% varies\n# !glassformer presets\nx\n"
    assert BUILD.cells(text) == [
        BUILD.Cell("markdown", "# Title\n\nText."),
        BUILD.Cell("code", "x = 1"),
        BUILD.Cell("code", "# !glassformer presets\nx", True),
    ]


def test_the_output_and_result_of_a_cell_are_kept_and_an_error_stops_it():
    notebook = BUILD.built("# %%\nx = 2\nprint('hello')\nx + 1\n\n# %%\n# !glassformer count layer --without norms\n")
    first, second = notebook["cells"]
    assert said(first) == [["hello\n"], ["3"]]
    assert second["source"] == ["!glassformer count layer --without norms"]
    assert "without norms, of 3,152,384 in all" in "".join(said(second)[0])
    with pytest.raises(ZeroDivisionError):
        BUILD.built("# %%\n1 / 0\n")
    with pytest.raises(RuntimeError, match="unknown preset"):
        BUILD.built("# %%\n# !glassformer count no-such-thing\n")
