"""The language of quantities is parsed into trees, and every tree is written back."""

import pytest
from expression_trees import expressions, relations
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import GlassformerError
from glassformer.expressions.language import read, write
from glassformer.expressions.limits import MOST_CHARACTERS
from glassformer.expressions.tree import Converted, List, Name, Node, Quantity, Relation


@settings(max_examples=400, deadline=None)
@given(st.one_of(expressions, relations))
def test_reading_what_was_written_gives_the_tree_back(text: str) -> None:
    tree = read(text)
    assert read(write(tree)) == tree


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("params", "params"),
        ("params( ffn ,layer = 0 )", "params(ffn, layer=0)"),
        ("params(ffn)/params", "params(ffn) / params"),
        ("params@bert-large - params @ bert-base  d_ff=4096", "params @ bert-large - params @ bert-base d_ff=4096"),
        ("positions[3,5]", "positions(3, 5)"),
        ("solve(classes, params = 86,041,344)", "solve(classes, params = 86041344)"),
        ("shape(weights) = 768 x 768", "shape(weights) = 768 × 768"),
        ("flops(attention) <= flops(ffn)", "flops(attention) ≤ flops(ffn)"),
        ("3 * (768 * 768) * 8", "3 * (768 * 768) * 8"),
        ("bytes(training) in MiB", "bytes(training) in MiB"),
        (r"\frac{1}{\sqrt{d_k}}", "1 / √d_k"),
        ("110M parameters", "110M parameters"),
        ("params = 2 362 368", "params = 2362368"),
        ("8nd^2 + 4n^2d", "8 · nd^2 + 4 · n^2 · d"),
        ("params / params = 4x", "params / params = 4 times"),
    ],
)
def test_the_canonical_form(text: str, canonical: str) -> None:
    assert write(read(text)) == canonical


def test_a_name_in_front_of_a_bracket_takes_arguments_and_options() -> None:
    assert read("params(W_Q, b_Q, layer=0) @ bert-base t=5") == Quantity(
        "params", (Name("W_Q"), Name("b_Q")), (("layer", read("0")),), "bert-base t=5"
    )


def test_values_after_an_option_continue_its_list() -> None:
    found = read("flops(t=128, 256,512)")
    assert isinstance(found, Quantity)
    assert found.options == (("t", List((read("128"), read("256"), read("512")), "")),)


def test_sides_of_a_relation_keep_their_signs() -> None:
    found = read("params = 12 * d_model^2 ≈ 7M")
    assert isinstance(found, Relation)
    assert found.signs == ("=", "≈")
    assert isinstance(read("params in M"), Converted)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the expression is empty"),
        ("params(ffn", "'params(ffn' cannot be read: ')' is missing."),
        ("params @", "expected a model after '@'"),
        ("params in furlongs", "'furlongs' is not a unit"),
        ("3!", "unexpected '!' after '3' (character 2)"),
        ("params +", "'params +' ends too early"),
        ("* 3", "unexpected '*' (character 1)"),
        ("x" * (MOST_CHARACTERS + 1), f"at most {MOST_CHARACTERS:,} are allowed"),
        ("(" * 200 + "1" + ")" * 200, "nested"),
        ("9" * 500, "digits"),
        ("perplexity: exp(2.3) = 9.97", "leave out the words before it and write 'exp(2.3) = 9.97'."),
    ],
)
def test_an_unreadable_expression_is_a_one_line_error_that_says_why(text: str, says: str) -> None:
    with pytest.raises(GlassformerError) as refused:
        read(text)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


LETTERS = "()[]{}=<>+-*/^@,.;:!?%&|~_'\"\\$#×·√²ᵀ∈≈0123456789 \n\tabdknprstxLMV"
SIGNS = [*LETTERS, "params", "layer=", "\\frac{", "@ bert-base", "in "]


@settings(max_examples=600, deadline=2000)
@given(st.lists(st.sampled_from(SIGNS), max_size=60).map("".join))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        tree: Node = read(text)
    except GlassformerError as error:
        assert "\n" not in str(error)
    else:
        assert write(tree)
