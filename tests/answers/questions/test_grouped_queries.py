"""Grouped queries in words: as many groups as heads of keys and values, and no guess where two attentions are compared."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.questions.grouped_queries import take_groups
from glassformer.spec import GlassformerError

ASKED = {
    "With multi-query attention, d_model = 512 and 8 heads, how many parameters does W_K have?": 512 * 64,
    "With d_model = 512, 8 query heads and 2 key-value heads, how many parameters do W_K and W_V have, without biases?": 131_072,
    "In grouped-query attention with 4 groups, 16 heads and d_model = 1024, what is the shape of W_K?": (1024, 256),
    "How many parameters does the attention have with d_model = 512, 8 heads and 2 KV heads?": 656_640,
    "A layer has d_model = 512, 8 heads and grouped-query attention with groups of 4 heads. How many parameters does W_V have?":
        512 * 128,
    "With 8 heads, d_model=512 and num_key_value_heads=2, what is the shape of W_K?": (512, 128),
    "What is the shape of K with d_model = 512, 8 query heads, 2 KV heads and 10 tokens?": (1, 10, 2, 64),
    "What is the shape of Q with d_model = 512, 8 query heads, 2 KV heads and 10 tokens?": (1, 10, 8, 64),
}  # fmt: skip


@pytest.mark.parametrize(("question", "value"), ASKED.items())
def test_heads_of_keys_and_values_are_understood(question, value):
    assert ask(question).value == value


@pytest.mark.parametrize(
    "question",
    [
        "How many fewer parameters does multi-query attention have than multi-head attention with d_model=512 and 8 heads?",
        "How many parameters does grouped-query attention with d_model=512 and 8 heads have?",
        "A model with d_model=512 uses grouped-query attention with 2 KV heads. How many parameters does the attention have?",
        "How many parameters does the attention of BERT-base with 4 KV heads have?",
    ],
)
def test_what_is_left_open_or_compared_is_refused(question):
    with pytest.raises(GlassformerError):
        ask(question)


def test_groups_are_as_many_as_heads_of_keys_and_values_and_a_group_size_divides_the_heads():
    assert take_groups("gqa with 4 groups and 16 heads")[0] == {"kv_heads": "4"}
    assert take_groups("16 heads in groups of 4")[0] == {"kv_heads": "4"}
    assert take_groups("16 heads in groups of 8")[0] == {"kv_heads": "2"}
    assert take_groups("4 groups of students")[0] == {}
