"""Claims without a number are held against the factor that they are about."""

import pytest

from glassformer.answers.judging import check_sentence
from glassformer.answers.judging.directions import direction_in
from glassformer.spec import GlassformerError

TRUE = """
RoBERTa-base has more parameters than BERT-base.
ELECTRA-small has fewer parameters than BERT-base.
ALBERT-xxlarge is larger than BERT-base.
ModernBERT-base has more layers than BERT-base.
RoBERTa-base has the same number of layers as BERT-base.
DistilBERT has fewer layers than BERT.
The FFN has more parameters than the attention in each layer.
Increasing the sequence length increases the memory of the attention matrix.
Increasing the number of heads does not change the number of parameters of multi-head attention.
Halving the sequence length reduces the cost of attention.
The number of parameters of self-attention does not depend on the sequence length.
The number of parameters depends on the number of layers.
A multi-head attention layer with 6 heads has the same number of parameters as one with 3 heads.
An encoder with 10 layers has twice as many parameters as one with 5 layers.
"""
FALSE = """
ALBERT-base is larger than BERT-base.
Self-attention has more parameters than the FFN.
Increasing the number of heads while keeping d_model fixed increases the number of parameters of multi-head attention.
The number of parameters of self-attention depends on the sequence length.
A multi-head attention layer with 6 heads has twice as many parameters as one with 3 heads, for the same d_model.
"""
OPEN = """
Increasing the number of heads while keeping d_k fixed increases the number of parameters of multi-head attention.
Increasing the batch size increases the memory.
The decoder has more parameters than the encoder.
T5-base has more parameters than BERT-base.
Self-attention has fewer parameters than a convolution.
GPT-2 is larger than BERT-base.
A pre-norm encoder has more parameters than a post-norm one.
BERT has more parameters than RoBERTa.
"""


@pytest.mark.parametrize("sentence", TRUE.strip().splitlines())
def test_what_is_so_is_confirmed(sentence):
    assert all(found.right for found in check_sentence(sentence))


@pytest.mark.parametrize("sentence", FALSE.strip().splitlines())
def test_what_is_not_so_is_called_wrong(sentence):
    assert not check_sentence(sentence)[0].right


@pytest.mark.parametrize("sentence", OPEN.strip().splitlines())
def test_what_hangs_on_something_else_is_refused(sentence):
    with pytest.raises(GlassformerError) as refused:
        check_sentence(sentence)
    assert "\n" not in str(refused.value)


def test_a_smaller_size_turns_the_side_round():
    assert direction_in("Reducing the hidden size reduces the number of parameters.")[0][1] == "more than 1"
    assert direction_in("Reducing the hidden size increases the number of parameters.")[0][1] == "less than 1"
    assert direction_in("BERT-base has 12 layers.") == []
