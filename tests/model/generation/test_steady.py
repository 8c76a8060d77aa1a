"""Beam search in memory of its own gives what the plain one gives; on a GPU its steps are replayed."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model import Seq2Seq
from glassformer.model.fast.precision import TRITON
from glassformer.model.fast.replacing import apply
from glassformer.model.generation.generate import translated
from glassformer.model.generation.settings import Choice
from glassformer.model.generation.steady import SteadySearch, serves

MODELS = ["transformer", "bart-base-seq2seq positions=32", "opus-mt-en-fr", "transformer decoder.kv_heads=1 d_k=12"]
SIZES = "vocab=12 d_model=16 heads=2 layers=2 d_ff=24 dropout=0"
SPECIAL = {
    "plain": Tokens(ends=(2,), start=(1,)),
    "rules": Tokens(ends=(2, 5), start=(1,), banned=(7,), banned_first=(2, 5, 9), last=2),
    "forced": Tokens(ends=(2,), start=(1,), first=11),
}
CHOICES = [{"beams": 2}, {"beams": 3, "length_penalty": 0.4}, {"beams": 4, "early_stop": True}]


def made(preset):
    torch.manual_seed(3)
    model = Seq2Seq(gf.spec(f"{preset} {SIZES}"), dtype=torch.float64).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
            if "E_token" in name:  # logits so close to one another that texts end at different steps
                parameter.copy_(0.075 * torch.randn_like(parameter))
    return model.requires_grad_(False)


def sources_of(lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(3, 12, length).tolist() for length in sorted(lengths, reverse=True)]


def plainly(model, sources, choice, tokens):
    done = {}
    for numbers, some in translated(model, sources, choice, tokens, name=str):
        done.update(zip(numbers, some, strict=True))
    return [done[number] for number in range(len(sources))]


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert (one.tokens, one.ended) == (other.tokens, other.ended)
        assert one.score == pytest.approx(other.score, abs=1e-4)


@torch.inference_mode()
@pytest.mark.parametrize("name", MODELS)
def test_it_equals_the_plain_search(name):
    model, lengths = made(name), set()
    for tokens, words in product(SPECIAL.values(), CHOICES):
        choice = Choice(max_new_tokens=14, **words)
        steady = SteadySearch(model, choice, tokens)
        for seed, some in enumerate(([9, 7, 7, 4, 3, 2, 1, 1, 5, 6, 8], [3, 2], [12] * 13)):  # less room, then more
            sources = sources_of(some, seed)
            found = steady.translate(sources)
            same(found, plainly(model, sources, choice, tokens))
            lengths |= {len(one.tokens) for one in found}
    assert len(lengths) > 2  # texts leave at different steps


def test_it_serves_gpus_only():
    assert not serves(made("transformer"), Choice(beams=4))


@pytest.mark.skipif(not (torch.cuda.is_available() and TRITON), reason="needs a GPU and Triton")
class TestOnAGpu:
    @pytest.mark.parametrize("choice", CHOICES, ids=str)
    @pytest.mark.parametrize("name", MODELS)
    def test_replayed_steps_find_the_same(self, name, choice):
        model = made(name)
        on_gpu = apply(deepcopy(model).float().cuda())
        tokens, choice = SPECIAL["rules"], Choice(max_new_tokens=20, **choice)
        assert serves(on_gpu, choice)
        steady = SteadySearch(on_gpu, choice, tokens)
        for seed in range(3):
            sources = sources_of(range(1, 28), seed)
            same(steady.translate(sources), plainly(model, sources, choice, tokens))
        assert steady.recorder.graphs
