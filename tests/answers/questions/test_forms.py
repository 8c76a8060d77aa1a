"""Questions with a form of their own are read whole: nothing that they say is passed over."""

import pytest

from glassformer.answers.questions import parse_question
from glassformer.spec import GlassformerError

ENTRIES = [
    ("PE(3, 5)", (3, 5)),
    ("PE(pos=3, 2i=4)", (3, 4)),
    ("PE(pos=3, 2i+1=5)", (3, 5)),
    ("PE_{(3, 5)}", (3, 5)),
    ("PE[3][5]", (3, 5)),
    ("PE(pos, 2i+1) for pos = 3, i = 2", (3, 5)),
    ("PE(pos, 2i) for pos = 3 and i = 2", (3, 4)),
    ("the value of PE at position 3, dimension 5", (3, 5)),
    ("What is the sinusoidal positional encoding of position 3, feature 5?", (3, 5)),
    ("entry (3, 5) of the positional encoding", (3, 5)),
]


@pytest.mark.parametrize(("text", "places"), ENTRIES)
def test_an_entry_of_the_position_table(text, places):
    found = parse_question(text)
    assert (found.kind, dict(found.given)) == ("entry", dict(zip(("position", "feature"), places, strict=True)))


EPOCHS = [
    ("updates per epoch with 10000 rows and batch 32", {"rows": 10_000, "batch": 32}),
    ("how many steps per epoch for 50,000 examples with a batch size of 64?", {"rows": 50_000, "batch": 64}),
    ("number of batches per epoch for 60k images and batch size 128", {"rows": 60_000, "batch": 128}),
    ("iterations in 3 epochs with 1 million training examples", {"rows": 10**6, "epochs": 3}),
    ("optimizer steps in an epoch if the dataset has 9 examples, batch=2, drop_last=True", {"rows": 9, "batch": 2, "dropped": 1}),
    ("steps per epoch, 1000 rows, batches of 10 rows, gradient accumulation of 2", {"rows": 1000, "batch": 10, "accumulated": 2}),
]


@pytest.mark.parametrize(("text", "given"), EPOCHS)
def test_updates_of_an_epoch(text, given):
    found = parse_question(text)
    assert (found.kind, dict(found.given)) == ("updates", given)


@pytest.mark.parametrize(
    "text",
    [
        "difference between tied and untied",
        "how many parameters does weight tying save?",
        "parameters saved by tying the input and output embeddings",
        "How many more parameters does the model have with untied embeddings?",
    ],
)
def test_tied_against_untied(text):
    assert parse_question(text).kind == "tying"


@pytest.mark.parametrize(
    "text",
    [
        "gradient norm of PE(3, 5)",
        "PE(3, 5) of the decoder",
        "seconds per epoch with 1000 rows and batch 10",
        "updates per epoch with 1000 rows on 4 GPUs",
        "time saved by tying",
    ],
)
def test_a_form_with_words_that_are_not_understood_is_refused(text):
    with pytest.raises(GlassformerError):
        from glassformer.answers.asked import ask
        from glassformer.spec.reading import request

        ask(text, request("bert-base", head="mlm"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("positional encoding at position 3", "at which feature"),
        ("updates per epoch with batch 32", "of how many rows"),
        ("updates per epoch with 99999999999999999 rows", "not a whole number that can be worked with"),
    ],
)
def test_what_is_missing_is_asked_for(text, message):
    with pytest.raises(GlassformerError, match=message):
        parse_question(text)
