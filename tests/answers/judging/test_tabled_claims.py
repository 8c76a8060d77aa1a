"""Every cell of a table and every line of a list is a claim of its own."""

import pytest

from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.tabled_claims import lined_up
from glassformer.spec import GlassformerError


def test_the_one_wrong_cell_is_found():
    table = (
        "| Model | Layers | Hidden | Heads |\n|---|---|---|---|\n| BERT-base | 12 | 768 | 12 |\n| BERT-large | 24 | 1024 | 12 |"
    )
    assert [found.right for found in check_sentence(table)] == [True] * 5 + [False]


def test_letters_at_the_head_of_a_column_are_those_of_the_paper():
    table = "| Model | L | H | A |\n|---|---|---|---|\n| BERT-base | 12 | 768 | 12 |\n| BERT-large | 24 | 1024 | 16 |"
    assert all(found.right for found in check_sentence(table))


def test_the_embedding_of_albert_is_narrower_than_its_layers():
    table = "| Model | Layers | Hidden | Embedding |\n|---|---|---|---|\n| ALBERT-base | 12 | 768 | {} |"
    assert [found.right for found in check_sentence(table.format(128))] == [True, True, True]
    assert not check_sentence(table.format(256))[2].right


def test_the_one_wrong_line_is_found():
    lines = "- BERT-base uses 12 attention heads\n- each head has dimension 64\n- the feed-forward layer has 3072 units"
    assert [found.right for found in check_sentence(f"{lines}\n- the vocabulary has 50,265 entries")] == [True, True, True, False]


def test_a_line_without_a_verb_is_what_the_encoder_has():
    lines = "Facts about RoBERTa-base:\n- 12 layers\n- vocabulary of {} tokens\n- 125M parameters"
    assert all(found.right for found in check_sentence(lines.format("50,265")))
    assert [found.right for found in check_sentence(lines.format("30,522"))] == [True, False, True]


def test_millions_in_the_head_of_a_column_are_millions():
    table = "| Model | Params (M) |\n|--|--|\n| BERT-base | {} |"
    assert check_sentence(table.format(110))[0].right
    assert not check_sentence(table.format(340))[0].right


@pytest.mark.parametrize(
    "text",
    [
        "| Model | Params |\n|--|--|\n| BERT-base | 110 |",  # of what?
        "| Model | Layers |\n|--|--|\n| MyNet | 12 |",
        "| Model | Tokens |\n|--|--|\n| BERT-base | 3.3B |",
        "| Model | Layers | Score |\n|--|--|--|\n| BERT-base | 12 | 84.4 |",
        "- BERT-base has 12 layers\n- it scores 84.4 on GLUE",
    ],
)
def test_a_table_that_is_not_understood_whole_is_refused(text):
    assert lined_up(text) == []


def test_a_row_of_unknown_things_is_one_line():
    with pytest.raises(GlassformerError, match="no claim that can be read"):
        check_sentence("| Model | Layers |\n|--|--|\n| MyNet | 12 |")
