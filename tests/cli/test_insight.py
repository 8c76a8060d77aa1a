"""The insight commands, as a person uses them."""

import json

import pytest
from command_line import glassformer

SPEC = ("encoder", "d_model=8", "heads=2", "d_ff=8", "layers=1", "vocab=20", "head=classify", "classes=3")
TEXT = ("--text", "time flies like an arrow")


def test_attribute_prints_total_parts_and_remainder_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    done = glassformer("attribute", *SPEC, *TEXT, "--of", "class=LABEL_1", "--out", "why.svg", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("what made logit of 'LABEL_1'\n")
    assert all(line in done.stdout for line in ("sum of contributions", "remainder", "Sum + remainder − value = ", "layer 0 ffn"))
    picture = (tmp_path / "why.svg").read_text(encoding="utf-8")
    assert picture.rstrip().endswith("</svg>")


def test_attribute_by_slope_shows_its_remainder():
    words = ("attribute", *SPEC, *TEXT, "--depth", "input", "--activations", "slope", "activation=gelu", "--json")
    document = json.loads(glassformer(*words).stdout)
    assert document["remainder"] != 0
    assert document["total"] + document["remainder"] == pytest.approx(document["value"], rel=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*SPEC, *TEXT, "--of", "class=7"), "there is no class '7'."),
        ((*SPEC, *TEXT, "--of", "layers.0.attention.weigths head=0 t=0 s=0"), "Did you mean 'layers.0.attention.weights'?"),
        ((*SPEC, *TEXT, "--norms", "hold"), "Did you mean 'held'?"),
        ((*SPEC, *TEXT, "--out", "why.pdf"), "the name must end in one of .png, .svg."),
        ((), "no spec is given"),
    ],
)
def test_a_mistake_is_one_line(words, message):
    done = glassformer("attribute", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
