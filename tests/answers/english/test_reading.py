"""Questions in English: read into the right expression or refused, and never read into one with another value."""

import re
from collections import Counter, defaultdict
from functools import cache

import pytest
from corpus import HELD_OUT, Row, rows, same, value_of

import glassformer as gf
from glassformer.answers.english import read_english
from glassformer.configs.reading import request_from_words
from glassformer.errors import GlassformerError
from glassformer.expressions.language import read, write

# How many questions are read rightly. Those held out were written before the reader, by its author.
READ_AT_LEAST = {"corpus": 680, HELD_OUT: 46}
COMMANDS = re.compile(r'glassformer ask "([^"]+)" (\S+?)(?:;|$)')


def outcome(row: Row) -> str:
    try:
        found = value_of(read_english(row.words, row.asked).expression, row.asked)
    except GlassformerError:
        return "refused"
    due = [row.value] if row.value is not None else []
    due += [value_of(row.expression, row.asked)] if row.expression else []
    return "read" if any(same(found, value) for value in due) else "wrong"


@cache
def outcomes() -> dict[str, dict[str, Counter[str]]]:
    """Per source and kind, how many questions were read, refused, or read wrongly."""
    found: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for row in rows("ask"):
        found[HELD_OUT if row.source == HELD_OUT else "corpus"]["refused" if row.refused else row.kind][outcome(row)] += 1
    return found


@cache
def answered() -> list[Row]:
    return [row for row in rows("ask") if not row.spec and outcome(row) == "read"]


@pytest.mark.parametrize("source", READ_AT_LEAST)
def test_no_question_is_read_wrongly(source):
    for kind, found in sorted(outcomes()[source].items(), key=lambda item: -item[1].total()):
        print(f"{kind:12} {found.total():5} questions {found['read']:5} read {found['refused']:5} refused")  # noqa: T201
        assert not found["wrong"], kind
    assert sum(found["read"] for found in outcomes()[source].values()) >= READ_AT_LEAST[source]


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("odd", ["bananas", "decoder", "shared", "77", "not", "twice", "pruned"])
def test_a_word_or_a_number_that_is_not_used_refuses_the_question(odd, every):
    for row in answered()[len(odd) % every :: every]:
        if odd == "decoder" and "seq2seq" in str(row.expression):
            continue  # a model with a decoder, where the word is used
        with pytest.raises(GlassformerError):
            read_english(f"{row.words.rstrip('?. ')} {odd}?")


def test_a_question_becomes_an_expression_of_the_language():
    for row in answered():
        node = read_english(row.words).expression
        assert read(write(node)) == node


def test_case_articles_and_hyphens_change_nothing():
    for row in answered():
        if "=" not in row.words and "W_" not in row.words:
            plain = read_english(row.words).expression
            assert read_english(row.words.replace("-", " ").replace("How", "how")).expression == plain
            assert read_english(row.words.replace(" the ", " ")).expression == plain


def test_the_sizes_of_several_sentences_go_to_their_own_names():
    sizes = "Each head has dimension 16. d_model is 64, 4 heads, FFN dimension 120."
    found = read_english(f"{sizes} How many parameters in the layer?").expression
    assert write(found) == "params(layer=0) @ layer d_k=16 d_model=64 heads=4 d_ff=120"
    with pytest.raises(GlassformerError):  # whether biases are weights is not said
        read_english(f"{sizes} How many weights in the layer?")


@pytest.mark.parametrize(
    "question",
    [
        "How many parameters does an encoder layer with 8 heads have?",  # d_model is left open
        "What is d_k for d_model = 512?",
        "How many parameters does an encoder with d_model 512 and d_model 256 have?",
        "How many parameters do 3 layers of BERT-base have?",
        "How many parameters does BERT-base have with 8 heads?",
        "The FFN has 200 units and d_model is 96. How many parameters does it have?",
        "How many layers and heads does BERT-base have?",
        "How many parameters does BERT-base have in its 12 heads?",
        "What is the total size of the attention weights in BERT-base for 512 tokens?",
        "How much memory does one token need in BERT-base?",
        "is BERT-large bigger than BERT-base",
        "Why do we divide by sqrt(d_k)?",
    ],
)
def test_an_ambiguous_question_is_refused(question):
    with pytest.raises(GlassformerError, match=r"cannot be answered: .* Try: "):
        read_english(question)


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("How many more parameters than BERT-base does BERT-large have?", "params @ bert-large - params @ bert-base"),
        ("What is the dimension of the embeddings in ALBERT-base?", "embedding_size @ albert-base"),
        ("How many parameters do the biases of the FFN in BERT-base have?", "params(ffn, only=biases) @ bert-base"),
        ("Number of parameters in the attention and the FFN of BERT-base", "params(attention, ffn) @ bert-base"),
        ("How many bytes do the weights and gradients of BERT-base need?", "bytes(weights, gradients) @ bert-base"),
    ],
)
def test_order_and_small_words_matter(question, expression):
    assert write(read_english(question).expression) == expression


def test_a_spec_given_with_the_question_must_agree_with_it():
    beside = request_from_words(["bert-base", "t=128"])
    assert (
        write(read_english("How many FLOPs does the FFN of BERT-base need for 128 tokens?", beside).expression)
        == "flops(ffn, t=128)"
    )
    for other in (
        "params of BERT-large",
        "FLOPs of the ffn for 64 tokens",
        "params of the encoder with 8 heads",
        "params of the MLM head",
    ):
        with pytest.raises(GlassformerError, match="does not agree with the given spec"):
            read_english(other, beside)


def test_a_refusal_lists_expressions_that_can_be_run():
    refused = [row for row in rows("ask") if row.refused and not row.spec][:60]
    for row in refused:
        try:
            read_english(row.words)
        except GlassformerError as error:
            tried = COMMANDS.findall(str(error))
            assert len(tried) == 3 or len(row.words) > 600
            for expression, model in tried:
                assert gf.ask(expression, model).value is not None


def test_a_question_that_is_too_long_is_refused():
    with pytest.raises(GlassformerError, match="at most 600"):
        read_english("how many parameters " * 40)


@pytest.mark.parametrize(
    "question",
    [
        "Each head has dimension 16. d_model is 64, 4 heads, FFN dimension 120. How many weights in the layer?",
        "What is the output shape of nn.MultiheadAttention(16, 4) on an input of shape (5, 2, 16)?",
    ],
)
def test_questions_that_were_once_answered_wrongly_are_refused(question: str) -> None:
    """The first was read with d_model = 16, the second with the batch first, which is not torch's default."""
    with pytest.raises(GlassformerError, match="cannot be answered"):
        read_english(question)
