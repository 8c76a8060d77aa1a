"""Mistakes made in random parameter counts are found again from the number alone."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from glassformer.algebra.ledger import count
from glassformer.answers.mistakes.conventions import totals_by_convention
from glassformer.answers.mistakes.counted import CountClaim, count_findings
from glassformer.answers.mistakes.counting import rewrites
from glassformer.answers.mistakes.pieces import Setting, pieces_of, total
from glassformer.spec import EncoderSpec


@st.composite
def specs(draw):
    heads, d_k = draw(st.sampled_from([1, 2, 4, 12])), draw(st.sampled_from([4, 16, 64]))
    layers, vocab = draw(st.sampled_from([1, 2, 12])), draw(st.sampled_from([50, 1000, 30522]))
    wide = draw(st.sampled_from([4 * heads * d_k, 3 * heads * d_k, 120]))
    return EncoderSpec(d_model=heads * d_k, heads=heads, layers=layers, d_ff=wide, vocab=vocab)


def claimed(spec):
    pieces = pieces_of(count(spec))
    return pieces, Setting(spec, 1, 64), {value for _, value in totals_by_convention(pieces)}


def findings(spec, value, room=0):
    pieces, setting, _ = claimed(spec)
    return count_findings(pieces, setting, CountClaim(Fraction(value), Fraction(room), total(pieces)))


@settings(max_examples=60)
@given(specs(), st.data())
def test_every_single_mistake_is_found_again_and_changes_the_count(spec, data):
    pieces, setting, right = claimed(spec)
    made = data.draw(st.sampled_from(list(rewrites(pieces, setting))))
    assume(total(made.pieces) not in right)
    found = findings(spec, total(made.pieces))
    assert (made.code,) in [finding.codes for finding in found]
    assert all(finding.value == total(made.pieces) != total(pieces) and not finding.near for finding in found)


@settings(max_examples=30)
@given(specs(), st.data())
def test_every_mistake_that_is_named_makes_a_difference(spec, data):
    pieces, setting, right = claimed(spec)
    first = data.draw(st.sampled_from(list(rewrites(pieces, setting))))
    second = data.draw(st.sampled_from(list(rewrites(first.pieces, setting))))
    assume(total(second.pieces) not in right)
    for finding in findings(spec, total(second.pieces)):
        if spec.heads == 1:
            assert not {"heads_times_full_width", "one_head_vs_all_heads"} & set(finding.codes)
        if spec.layers == 1:
            assert "one_layer_only" not in finding.codes


def test_digits_and_zeros_are_slips_if_no_mistake_matches():
    spec = EncoderSpec(d_model=768, heads=12, layers=12, d_ff=3072, vocab=30522)
    right = total(claimed(spec)[0])
    digits = str(right)
    swapped = int(digits[:-2] + digits[-1] + digits[-2])
    assert [finding.codes for finding in findings(spec, swapped)] == [("digits_exchanged",)]
    assert ("zero_added",) in [finding.codes for finding in findings(spec, right * 10)]


@pytest.mark.parametrize("value", [110_000_001, 123_456_789])
def test_noise_has_no_cause(value):
    assert findings(EncoderSpec(d_model=768, heads=12, layers=12, d_ff=3072, vocab=30522), value) == []


def test_a_coarsely_rounded_number_proves_nothing():
    spec = EncoderSpec(d_model=768, heads=12, layers=12, d_ff=3072, vocab=30522)
    assert findings(spec, 300_000_000, room=50_000_000) == []
