"""Generation, with transformers as the witness: a cache, one beam, the other texts of a batch and a fast model change nothing."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import seeded
from strategies import decoder_specs
from tiny_decoders import VARIANTS, tiny
from tiny_models import all_in_float64

from glassformer.checkpoints.special_tokens import Tokens, read_tokens
from glassformer.errors import GlassformerError
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.fast import apply
from glassformer.model.fast.onednn import laid_out
from glassformer.model.generation.choosing import Draws, sampled
from glassformer.model.generation.generate import continued
from glassformer.model.generation.settings import Choice
from glassformer.spec import DecoderSpec

ENDS = Tokens(ends=(2,))
WINDOWED = DecoderSpec(
    vocab=30, d_model=16, heads=4, kv_heads=2, d_k=6, d_ff=24, layers=3, position="rotary", norm="pre", window=6, global_every=3,
    activation="swiglu", biases=(), dropout=0.0,
)  # fmt: skip


def fixed(spec, seed=0):
    """A model of which no gradients are wanted."""
    return seeded(spec, seed).requires_grad_(False)


def found(model, prompts, tokens=ENDS, **choice):
    """What follows each prompt, in their order."""
    done = {}
    for numbers, some in continued(model, prompts, Choice(**choice), tokens, name="text {}".format):
        done.update(zip(numbers, some, strict=True))
    return [done[number] for number in range(len(prompts))]


def prompts_of(vocab, lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, vocab, length).tolist() for length in lengths]


def without_cache(model, prompt, most, ends=(2,)):
    """Greedy, with a whole pass for each token."""
    tokens, total = list(prompt), 0.0
    for _ in range(most):
        logits = model(torch.tensor([tokens])).logits[0, -1].log_softmax(-1)
        tokens.append(int(logits.argmax()))
        total += float(logits.max())
        if tokens[-1] in ends:
            return tokens[len(prompt) : -1], total
    return tokens[len(prompt) :], total


@settings(max_examples=40)
@given(spec=decoder_specs(), seed=st.integers(0, 9))
def test_decoding_with_a_cache_equals_whole_passes(spec, seed):
    """Any decoder, prompts of different lengths in one batch, windows shorter than the text."""
    model = fixed(spec.replace(next_token=True, positions=32), seed)
    prompts = prompts_of(spec.vocab, (7, 1, 4), seed)
    for prompt, one in zip(prompts, found(model, prompts, max_new_tokens=9, tokens=Tokens()), strict=True):
        tokens, total = without_cache(model, prompt, 9, ends=())
        if one.tokens != tokens:  # two tokens with all but the same logits: any of the two may be first
            place = next(i for i, (a, b) in enumerate(zip(one.tokens, tokens, strict=True)) if a != b)
            logits = model(torch.tensor([[*prompt, *tokens[:place]]])).logits[0, -1]
            assert float(logits[tokens[place]] - logits[one.tokens[place]]) < 1e-9
        else:
            assert one.score == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("family", ["gpt2", "gemma2", "qwen2"])
def test_greedy_and_beams_are_those_of_transformers(family, tmp_path):
    theirs = tiny(family, VARIANTS[family][0])
    theirs.save_pretrained(tmp_path)
    model = load_encoder(tmp_path, dtype="float64", decoders=True).encoder
    prompts = prompts_of(37, (9, 4, 1), seed=1)
    for choice in (
        {},
        {"beams": 3},
        {"beams": 4, "length_penalty": 0.3},
        {"beams": 2, "early_stop": True, "length_penalty": 2.0},
    ):
        ours = found(model, prompts, max_new_tokens=10, **choice)
        for prompt, one in zip(prompts, ours, strict=True):
            with all_in_float64(), torch.no_grad():
                wanted = theirs.generate(
                    torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), max_new_tokens=10,
                    do_sample=False, num_beams=choice.get("beams", 1), length_penalty=choice.get("length_penalty", 1.0),
                    early_stopping=choice.get("early_stop", False), pad_token_id=0, eos_token_id=2,
                )[0, len(prompt) :].tolist()  # fmt: skip
            assert [*one.tokens, *([2] if one.ended else [])] == wanted, choice


@pytest.mark.parametrize("choice", [{}, {"beams": 3}, {"temperature": 0.7, "top_k": 9, "top_p": 0.8, "seed": 3}])
def test_the_other_texts_of_a_batch_change_nothing(choice):
    model = fixed(WINDOWED)
    prompts = prompts_of(30, (11, 2, 5, 5, 1))
    together = found(model, prompts, max_new_tokens=12, **choice)
    if "seed" not in choice:
        alone = [found(model, [prompt], max_new_tokens=12, **choice)[0] for prompt in prompts]
    else:  # a text's random numbers go by its number
        alone = [
            found(model, [[0]] * number + [prompt], max_new_tokens=12, **choice)[-1] for number, prompt in enumerate(prompts)
        ]
    assert [one.tokens for one in together] == [one.tokens for one in alone]


def test_one_beam_is_greedy_and_more_are_not_less_probable():
    model = fixed(WINDOWED)
    prompts = prompts_of(30, (6, 3, 9))
    greedy = found(model, prompts, max_new_tokens=8, tokens=Tokens())
    one = [found(model, [prompt], max_new_tokens=8, tokens=Tokens(), beams=1)[0] for prompt in prompts]
    assert [a.tokens for a in greedy] == [b.tokens for b in one]
    for beams in (2, 5):
        wider = found(model, prompts, max_new_tokens=8, tokens=Tokens(), beams=beams, length_penalty=0.0)
        assert all(b.score >= a.score - 1e-4 for a, b in zip(greedy, wider, strict=True))


def test_the_score_of_a_beam_is_the_sum_of_its_log_probabilities():
    model = fixed(WINDOWED)
    (prompt,) = prompts_of(30, (6,))
    for penalty in (0.0, 1.0, 2.0):
        (one,) = found(model, [prompt], max_new_tokens=7, beams=4, length_penalty=penalty, tokens=Tokens(ends=(2, 5, 7)))
        written = [*one.tokens]
        logits = model(torch.tensor([[*prompt, *written]])).logits[0].log_softmax(-1)
        total = sum(float(logits[len(prompt) - 1 + i, token]) for i, token in enumerate(written))
        if one.ended:
            total += max(float(logits[len(prompt) - 1 + len(written), end]) for end in (2, 5, 7))
        assert one.score == pytest.approx(total / (len(written) + one.ended) ** penalty, abs=1e-4)


def test_a_search_as_wide_as_all_texts_finds_the_most_probable_one():
    spec = WINDOWED.replace(vocab=4)
    model = fixed(spec)
    (one,) = found(model, [[1, 3]], max_new_tokens=2, beams=4, tokens=Tokens())
    every = torch.cartesian_prod(torch.arange(4), torch.arange(4))
    logits = model(torch.cat([torch.tensor([[1, 3]]).expand(16, -1), every], dim=1)).logits.log_softmax(-1)
    sums = logits[:, 1].gather(1, every[:, :1])[:, 0] + logits[:, 2].gather(1, every[:, 1:])[:, 0]
    assert one.tokens == every[int(sums.argmax())].tolist()


def test_a_model_made_fast_continues_the_same():
    model = fixed(WINDOWED).float()
    prompts = prompts_of(30, (11, 2, 5))
    plain = found(model, prompts, max_new_tokens=12, beams=3)
    fast = found(laid_out(apply(model)), prompts, max_new_tokens=12, beams=3)
    assert [one.tokens for one in plain] == [one.tokens for one in fast]


def test_sampling_follows_the_probabilities_that_top_k_and_top_p_leave():
    logits = torch.tensor([[2.0, 0.5, 1.0, -1.0, 0.0]]).expand(4000, -1)
    uniform = torch.rand(4000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for choice in (Choice(temperature=1.0), Choice(top_k=2), Choice(top_p=0.8), Choice(temperature=0.5, top_k=3)):
        p = (logits[0].double() / (choice.temperature or 1)).softmax(0)
        order = p.argsort(descending=True)
        keep = order[: choice.top_k or 5]
        if choice.top_p is not None:
            keep = order[: int((p[order].cumsum(0) < choice.top_p).sum()) + 1]
        wanted = torch.zeros(5, dtype=torch.float64).index_copy(0, keep, p[keep] / p[keep].sum())
        drawn = torch.bincount(sampled(logits, choice, uniform), minlength=5) / 4000
        assert float((drawn - wanted).abs().max()) < 0.03
        assert bool((drawn[wanted == 0] == 0).all())


def test_each_seed_and_each_text_has_random_numbers_of_its_own():
    drawn = torch.cat([Draws(seed, [0, 1, 2], 4).uniform_BT for seed in (0, 1, 2, 2**32)])
    assert len({tuple(row.tolist()) for row in drawn}) == 12
    assert torch.equal(Draws(7, [4], 9).uniform_BT, Draws(7, [2, 4], 9).uniform_BT[1:])


def test_tokens_that_the_files_exclude_are_never_chosen():
    model = fixed(WINDOWED)
    (prompt,) = prompts_of(30, (6,))
    for beams in (1, 3):
        (free,) = found(model, [prompt], max_new_tokens=6, beams=beams, tokens=Tokens())
        banned = Tokens(banned=tuple(free.tokens), banned_first=(4,), first=7, last=9)
        (one,) = found(model, [prompt], max_new_tokens=6, beams=beams, tokens=banned)
        assert (one.tokens[0], one.tokens[-1]) == (7, 9)
        assert not set(one.tokens[1:-1]) & set(free.tokens)
        (one,) = found(model, [prompt], max_new_tokens=1, beams=beams, tokens=banned)
        assert one.tokens == [9]  # as in transformers, the last token has the last word


@pytest.mark.parametrize(
    ("prompts", "choice", "said"),
    [
        ([[]], {}, "text 0 has no tokens: there is nothing to continue"),
        ([[1], [99]], {}, "text 1: token 99 is out of range: the vocabulary has 30 entries"),
        ([[1]], {"beams": 31}, "beams=31 is wider than the vocabulary: it has 30 tokens"),
        ([[1]], {"beams": 2, "top_k": 3}, "beams=2 and sampling exclude each other"),
        ([[1]], {"temperature": 0}, "temperature=0 is not allowed"),
        ([[1]], {"top_p": 1.5}, "top_p=1.5 is not allowed"),
        (
            [[1] * 20],
            {"max_new_tokens": 13},
            "text 0 has 20 tokens, and 13 new ones do not fit: the model has positions=32. Use max",
        ),
    ],
)
def test_bad_input_is_one_line(prompts, choice, said):
    model = fixed(WINDOWED.replace(position="learned", positions=32))
    with pytest.raises(GlassformerError, match="^" + said.replace("(", r"\(")):
        found(model, prompts, **({"max_new_tokens": 4} | choice))


def test_an_invalid_token_of_the_file_is_refused(tmp_path):
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [2, 37], "no_repeat_ngram_size": 3}')
    with pytest.raises(GlassformerError, match="eos_token_id = 37 is not allowed"):
        read_tokens(tmp_path, {"pad_token_id": 1}, 37)
    read = read_tokens(tmp_path, {"pad_token_id": 1}, 38)
    assert (read.ends, read.padding, read.not_applied) == ((2, 37), 1, ("no_repeat_ngram_size",))
