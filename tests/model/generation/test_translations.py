"""Translation, with transformers as the witness: a cache, one beam and the other texts of a batch change nothing."""

import numpy as np
import pytest
import torch
from tiny_models import all_in_float64
from tiny_seq2seq import AS_DEEP, FAMILIES, tiny

from glassformer.checkpoints.special_tokens import Tokens, read_tokens
from glassformer.errors import GlassformerError
from glassformer.model import Seq2Seq
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.fast.onednn import laid_out
from glassformer.model.fast.replacing import apply, with_parts
from glassformer.model.generation.generate import translated
from glassformer.model.generation.settings import Choice
from glassformer.model.generation.translations import Alignment
from glassformer.spec import DecoderSpec, Seq2SeqSpec

SIZES = {
    "d_model": 16, "heads": 4, "d_ff": 24, "layers": 2, "vocab": 30, "position": "relative", "relative_buckets": 8,
    "relative_distance": 20, "dropout": 0.0,
}  # fmt: skip
SPEC = Seq2SeqSpec(**SIZES, decoder=DecoderSpec(**SIZES, kv_heads=2))
TOKENS = Tokens(ends=(2,), start=(1,))
CHOICES = (
    {},
    {"beams": 3},
    {"beams": 4, "length_penalty": 0.3},
    {"beams": 2, "early_stop": True, "length_penalty": 2.0},
)
COMPARED = [
    "T5ForConditionalGeneration",
    "UMT5ForConditionalGeneration",
    "BartForConditionalGeneration",
    "MarianMTModel",
    "M2M100ForConditionalGeneration",
]


def random_model(spec=SPEC, seed=0):
    torch.manual_seed(seed)
    model = Seq2Seq(spec, dtype=torch.float64)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.eval().requires_grad_(False)


def found(model, sources, tokens=TOKENS, **choice):
    """What is written for each source, in their order."""
    done = {}
    for numbers, some in translated(model, sources, Choice(**choice), tokens, name="text {}".format):
        done.update(zip(numbers, some, strict=True))
    return [done[number] for number in range(len(sources))]


def sources_of(lengths, vocab=30, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(3, vocab, length).tolist() for length in lengths]


@pytest.mark.parametrize("name", COMPARED)
def test_greedy_and_beams_are_those_of_transformers(name, tmp_path):
    theirs = tiny(name, **{key: value for key, value in AS_DEEP.items() if key in FAMILIES[name]})
    theirs.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path, dtype="float64", decoders=True)
    tokens = read_tokens(tmp_path, loaded.folder.config, 37)
    sources = sources_of((9, 4, 1), vocab=37, seed=1)
    written = set()
    for choice in CHOICES:
        ours = found(loaded.encoder, sources, tokens, max_new_tokens=10, **choice)
        for source, one in zip(sources, ours, strict=True):
            with all_in_float64(), torch.no_grad():
                wanted = theirs.generate(
                    torch.tensor([source]), attention_mask=torch.ones(1, len(source), dtype=torch.long), max_new_tokens=10,
                    do_sample=False, num_beams=choice.get("beams", 1), length_penalty=choice.get("length_penalty", 1.0),
                    early_stopping=choice.get("early_stop", False),
                )[0, 1:].tolist()  # fmt: skip
            assert [*one.tokens, *([2] if one.ended else [])] == wanted, choice
            written.add(tuple(wanted))
    assert len(written) > 2


def without_cache(model, source, most):
    """Greedy, with a whole pass for each token."""
    target, total = [1], 0.0
    for _ in range(most):
        logits = model(torch.tensor([source]), torch.tensor([target])).logits[0, -1].log_softmax(-1)
        target.append(int(logits.argmax()))
        total += float(logits.max())
        if target[-1] == 2:
            return target[1:-1], total
    return target[1:], total


@pytest.mark.parametrize("tables", ["shared", "per_layer"])
@pytest.mark.parametrize("position", ["relative", "sinusoidal", "rotary"])
def test_decoding_with_a_cache_equals_whole_passes(position, tables):
    model = random_model(SPEC.replace(position=position, relative_tables=tables))
    sources = sources_of((7, 1, 4))
    for source, one in zip(sources, found(model, sources, max_new_tokens=12), strict=True):
        tokens, total = without_cache(model, source, 12)
        assert one.tokens == tokens
        assert one.score == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("choice", [{}, {"beams": 3}, {"temperature": 0.7, "top_k": 9, "seed": 3}])
def test_the_other_texts_of_a_batch_change_nothing(choice):
    model = random_model()
    sources = sources_of((11, 2, 5, 5, 1))
    together = found(model, sources, max_new_tokens=12, **choice)
    if "seed" not in choice:
        alone = [found(model, [source], max_new_tokens=12, **choice)[0] for source in sources]
    else:  # a text's random numbers go by its number
        alone = [found(model, [[9]] * number + [one], max_new_tokens=12, **choice)[-1] for number, one in enumerate(sources)]
    assert [one.tokens for one in together] == [one.tokens for one in alone]


def test_the_score_of_a_beam_is_the_sum_of_its_log_probabilities():
    model = random_model()
    (source,) = sources_of((6,))
    for penalty in (0.0, 1.0):
        (one,) = found(model, [source], max_new_tokens=7, beams=4, length_penalty=penalty)
        whole = [*one.tokens, *([2] if one.ended else [])]
        logits = model(torch.tensor([source]), torch.tensor([[1, *whole[:-1]]])).logits[0].log_softmax(-1)
        total = float(logits.gather(1, torch.tensor(whole)[:, None]).sum())
        assert one.score == pytest.approx(total / len(whole) ** penalty, abs=1e-4)


def test_a_model_made_fast_translates_the_same():
    model = random_model().float()
    sources = sources_of((11, 2, 5))
    plain = found(model, sources, max_new_tokens=12, beams=3)
    fast = apply(model)
    fast = with_parts(fast, encoder=laid_out(fast.encoder), decoder=laid_out(fast.decoder))
    assert [one.tokens for one in plain] == [one.tokens for one in found(fast, sources, max_new_tokens=12, beams=3)]


def test_a_generated_token_has_an_aligned_word():
    alignment = Alignment(("a", "b", "</s>"), ("x", "y"), ((0.2, 0.1, 0.7), (0.0, 0.6, 0.4)), (False, False, True))
    assert [(look.target, look.source, look.weight) for look in alignment.looks] == [("x", "a", 0.2), ("y", "b", 0.6)]


@pytest.mark.parametrize(
    ("sources", "choice", "said"),
    [
        ([[]], {}, "text 0 has no tokens: there is nothing to translate"),
        ([[1], [99]], {}, "text 1: token 99 is out of range: the vocabulary has 30 entries"),
        ([[1]], {"beams": 31}, "beams=31 is wider than the vocabulary: it has 30 tokens"),
        ([[1]], {"max_new_tokens": 16}, "max_new_tokens=16 does not fit: the decoder has positions=16, one of them"),
        ([[1] * 17], {}, "text 0 has 17 tokens, and the encoder has positions=16"),
    ],
)
def test_bad_input_is_one_line(sources, choice, said):
    model = random_model(SPEC.replace(position="learned", positions=16))
    with pytest.raises(GlassformerError, match="^" + said):
        found(model, sources, **({"max_new_tokens": 15} | choice))
