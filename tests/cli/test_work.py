"""`glassformer work`: forms, digits, rounding, and one line where something is wrong."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from glassformer.cli.work import work
from glassformer.errors import GlassformerError

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*words: str) -> str:
    result = CliRunner().invoke(work, [str(EXAMPLES / words[0]), *words[1:]], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_json_has_values_steps_title_and_asked():
    document = json.loads(run("flying-vectors.toml", "--json", "--ask", "weights,output"))
    assert document["title"] == "The word 'flying' attends to 'flying' and 'arrows'"
    assert document["asked"] == ["weights", "output"]
    assert document["values"]["output"] == pytest.approx([0.6089, 0.6089], abs=5e-5)
    assert [step["name"] for step in document["steps"]] == ["dot", "scores", "weights", "output"]
    assert set(document["steps"][0]) == {"name", "rule", "numbers", "shape", "value", "exact"}


def test_minus_infinity_is_text_in_json():
    assert json.loads(run("causal.toml", "--json"))["values"]["masked"][0] == [0, "-Infinity", "-Infinity"]


def test_rounded_says_how_far_the_result_moved():
    document = json.loads(run("flying-vectors.toml", "--json", "--rounded", "2"))
    assert document["rounded"] == 2
    assert document["values"]["weights"] == [0.81, 0.19]
    assert document["moved"]["output"] == pytest.approx(0.0111, abs=5e-5)


@pytest.mark.parametrize(
    ("form", "start"), [("--markdown", "## "), ("--latex", "\\section*{"), ("--html", '<div class="glassformer">')]
)
def test_other_forms(form, start):
    assert run("flying.toml", form).startswith(start)


@pytest.mark.parametrize("words", [("--digits", "99"), ("--rounded", "-1")])
def test_the_number_of_decimals_is_limited(words):
    with pytest.raises(GlassformerError, match="use 0 to 15 decimals"):
        run("flying.toml", *words)
