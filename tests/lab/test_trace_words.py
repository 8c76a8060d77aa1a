"""Tokens of byte-level and SentencePiece vocabularies in Trace are words, not the code that the vocabulary writes."""

import pytest

from glassformer.lab.pages.trace_words import BYTES, SPACE, readable


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("ĠÃ©tÃ©", "␣été"),
        ("▁été", "␣été"),
        ("Ġthe", "␣the"),
        ("Ċ", "⏎"),
        ("Ã", "Ã"),  # a part of a letter stays as it is written
        ("##ing", "##ing"),
        ("été", "été"),
        ("यह", "यह"),
        ("[CLS]", "[CLS]"),
    ],
)
def test_a_token_is_a_word(token, word):
    assert readable([token]) == [word]


def test_the_bytes_are_those_of_the_byte_level_tokenizer():
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(BYTES) == set(ByteLevel.alphabet())
    assert sorted(BYTES.values()) == list(range(256))
    text = "Où est l'été, 42 ?\n"
    pieces = ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert "".join(readable(piece for piece, _ in pieces)).replace(SPACE, " ").replace("⏎", "\n") == text
