"""The metadata of a release is correct: one dated version, extras that exist, every licence, a README without dead links."""

import json
import re
import tomllib

import pytest
from readme_map import ROOT
from release_check import relative_links

import glassformer

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
LICENCES = {  # as the data sets name them -> as SPDX does
    "CC BY 4.0": "CC-BY-4.0",
    "CC BY-SA 4.0": "CC-BY-SA-4.0",
    "CC BY 2.0 FR": "LicenseRef-CC-BY-2.0-FR",
    "BSD-3-Clause": "BSD-3-Clause",
    "MIT": "MIT",
    "Unicode-3.0": "Unicode-3.0",
}


def test_the_version_is_in_one_place_and_has_a_date_in_the_changelog():
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/glassformer/__init__.py"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", changelog, flags=re.MULTILINE)
    assert dated[0] == glassformer.__version__


def test_every_extra_that_a_message_or_a_page_names_exists():
    files = [path for place in ("src", "docs") for path in (ROOT / place).rglob("*") if path.suffix in (".py", ".md", ".toml")]
    named = {
        extra
        for path in (*files, ROOT / "README.md")
        for words in re.findall(r"glassformer\[([a-z, ]+)\]", path.read_text(encoding="utf-8"))
        for extra in words.replace(" ", "").split(",")
    }
    assert {"torch", "lab", "mcp"} <= named <= set(EXTRAS)


def test_the_extra_train_brings_torch_and_all_brings_every_guest():
    assert [line for line in EXTRAS["train"] if line.startswith("torch>=")] == EXTRAS["torch"]
    (every,) = re.findall(r"glassformer\[(.*)\]", EXTRAS["all"][0])
    brought = {line for extra in every.split(",") for line in EXTRAS[extra]}
    others = ("all", "dev", "docs", "openvino", "ray")  # the last two are large engines, which one chooses by name
    assert {line for extra, lines in EXTRAS.items() if extra not in others for line in lines} <= brought


def test_every_python_of_the_classifiers_is_supported_and_named_once():
    listed = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert listed == ["11", "12", "13"]
    assert PROJECT["project"]["requires-python"] == f">=3.{listed[0]}"


def test_the_licence_expression_covers_every_data_set_and_the_lab():
    expression = PROJECT["project"]["license"].split(" AND ")
    found = {"Apache-2.0", "MIT", "OFL-1.1"}
    for readme in (ROOT / "src/glassformer/training/sets").glob("*/README.md"):
        (line,) = re.findall(r"^Licence: (.*); text in LICENSE\.$", readme.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found |= {LICENCES[re.sub(r" \(.*\)", "", name)] for name in re.split(r" [+/] ", line)}
    assert [part.strip() for part in expression] == sorted(found)


def test_the_licence_of_the_lab_names_every_library_of_its_bundle():
    text = (ROOT / "src/glassformer/lab/LICENSE").read_text(encoding="utf-8")
    libraries = json.loads((ROOT / "web/package.json").read_text(encoding="utf-8"))["dependencies"]
    assert [name for name in libraries if not re.search(rf"^{re.escape(name)} ", text, flags=re.MULTILINE)] == []


def test_the_readme_of_the_metadata_has_no_link_into_the_repository():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert relative_links(readme) != []
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        readme = re.sub(rule["pattern"], rule["replacement"], readme)
    assert relative_links(readme) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [("[a](docs/a.md) ![b](b.png)", ["docs/a.md", "b.png"]), ("[a](https://x.example) [b](#c) `[d](e.md)`", [])],
)
def test_a_link_into_the_repository_is_found(text, found):
    assert relative_links(text) == found
