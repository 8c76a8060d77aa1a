"""Entries of the sinusoidal table, held against the paper's formula and the table that the program computes."""

import math

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.program.operations.lookups import sinusoidal_table
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request


@pytest.mark.parametrize("feature", [0, 1, 4, 5, 510, 511])
@pytest.mark.parametrize("position", [0, 1, 3, 100])
def test_an_entry_is_the_papers(position, feature):
    found = ask(f"PE({position}, {feature})", request("transformer-base")).value
    angle = position / 10000 ** (2 * (feature // 2) / 512)
    assert found == pytest.approx(math.cos(angle) if feature % 2 else math.sin(angle), abs=1e-15)
    assert found == pytest.approx(sinusoidal_table(101, 512)[position, feature], abs=1e-12)


CLAIMS = [
    ("PE(1, 0)", "0.841", "right"),
    ("PE(1, 1)", "0.54", "right"),
    ("PE(3, 4)", "sin(3/10000^(4/512))", "right"),
    ("PE(1, 0)", "0.540", "positional_index"),
    ("PE(1, 1)", "0.841", "convention"),
    ("PE(1, 0)", "0.0175", "degrees_for_radians"),
    ("PE(1, 0)", "0.3", ""),
]


@pytest.mark.parametrize(("question", "claim", "wanted"), CLAIMS)
def test_a_claim_is_judged(question, claim, wanted):
    found = check(question, request("transformer-base"), claim)
    assert found.verdict == (wanted if wanted in ("right", "convention") else "wrong")
    codes = [code for finding in found.findings for code in finding.codes]
    assert codes == [] if wanted in ("right", "convention", "") else wanted in codes


@pytest.mark.parametrize(
    ("question", "what", "message"),
    [
        ("PE(3, 5)", "bert-base", "this encoder has position=learned"),
        ("PE(3, 512)", "transformer-base", "feature 512 is not in the table: d_model=512, counted from 0"),
        ("PE(3, 5) with d_model 256", "transformer-base", "states d_model=256, and this encoder has d_model=512"),
    ],
)
def test_an_entry_that_is_not_there_is_refused(question, what, message):
    with pytest.raises(GlassformerError, match=message):
        ask(question, request(what))
