"""Refusals name tools, not commands."""

import pytest
from assistant import told

from glassformer.mcp.refusals import reworded


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("unknown 'x'. 'glassformer presets' lists them.", "unknown 'x'. The tool 'presets' lists them."),
        (
            "Did you mean 'layers'? 'glassformer presets --fields' lists",
            "Did you mean 'layers'? The tool 'presets' with fields=true lists",
        ),
        ("a claim: 'glassformer check' judges it", "a claim: the tool 'check' judges it"),
        ("'glassformer shapes' lists them", "The tool 'shapes' lists them"),
        (
            "Try: glassformer ask 'params(ffn, layer=0)' bert-base t=5",
            "Try: ask 'params(ffn, layer=0)' with spec 'bert-base t=5'",
        ),
        ("Try: glassformer ask '2 + 3'", "Try: ask '2 + 3'"),
        ("Give --claim with the answer.", "Give 'claim' with the answer."),
    ],
)
def test_a_command_becomes_the_tool_of_its_name(line, expected):
    assert reworded(line) == expected


def test_a_refusal_among_several_answers_names_the_tool():
    _, second = told("ask", expression=["params", "shape(nothing_like_it)"], spec="bert-base")["answers"]
    assert "tool 'shapes'" in second["error"]
