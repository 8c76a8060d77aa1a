"""Laws of models that write: nothing later or padded changes an output, one beam is greedy, gradients are those of steps."""

import pytest
import torch

import glassformer as gf
from glassformer import GlassformerError
from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model import Decoder, Seq2Seq
from glassformer.model.encoder import Inputs
from glassformer.model.generation.generate import continued, translated
from glassformer.model.generation.settings import Choice
from glassformer.model.seq2seq import Pair

DECODERS = [
    "gpt2 positions=16",
    "gpt2 positions=16 position=sinusoidal",
    "opt-125m positions=16",
    "opt-350m positions=16 embedding_size=8",
    "pythia-70m rotary_width=4",
    "llama-2-7b kv_heads=1",
    "llama-3.1-8b kv_heads=1",
    "mistral-7b kv_heads=1 window=4",
    "qwen2.5-0.5b kv_heads=1",
    "qwen3-0.6b kv_heads=1 d_k=6 d_v=6",
    "gemma-2b kv_heads=1 d_k=8 d_v=8",
    "gemma-2-2b kv_heads=1 d_k=8 d_v=8 window=4",
    "phi-3-mini kv_heads=2",
    "olmo-2-1b kv_heads=2",
    "smollm2-135m kv_heads=1",
]
PAIRED = ["transformer", "t5-small-seq2seq d_k=6 d_v=6", "bart-base-seq2seq positions=16", "opus-mt-en-fr", "m2m100-418m"]
SIZES = "vocab=20 d_model=16 heads=2 layers=2 d_ff=24 dropout=0"
IDS = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]])
OTHER = torch.tensor([[7, 2, 2, 1], [9, 9, 3, 4]])


def made(name):
    torch.manual_seed(1)
    spec = gf.spec(f"{name} {SIZES}")
    model = (Seq2Seq if name in PAIRED else Decoder)(spec, dtype=torch.float64).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model.requires_grad_(False)


@pytest.mark.parametrize("name", DECODERS + PAIRED)
def test_a_later_token_changes_no_earlier_output(name):
    model = made(name)
    changed = OTHER.clone()
    changed[:, 2:] = 11
    given = (lambda target: (IDS, target)) if name in PAIRED else (lambda target: (target,))
    before, after = model(*given(OTHER)).logits, model(*given(changed)).logits
    assert torch.equal(before[:, :2], after[:, :2]) and not torch.allclose(before[:, 2:], after[:, 2:])


def padded(ids, side, width=3):
    """Ids with padding on one side, which tokens are real, and the position of each."""
    filler = torch.full((len(ids), width), 17)
    real = torch.ones_like(ids, dtype=torch.bool)
    positions = torch.arange(ids.shape[1]).expand_as(ids)
    order = (lambda a, b: (a, b)) if side == "left" else (lambda a, b: (b, a))
    joined = (torch.cat(order(a, b), dim=1) for a, b in ((filler, ids), (torch.zeros_like(filler, dtype=torch.bool), real)))
    return (*joined, torch.cat(order(torch.zeros_like(filler), positions), dim=1))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", DECODERS + PAIRED)
def test_padding_on_either_side_changes_nothing(name, side):
    model = made(name)
    if name in PAIRED:
        ids, real, positions = padded(IDS, side)
        plain = model(IDS, OTHER).logits
        found = model.run(Pair(Inputs(ids, real, None, positions), Inputs(OTHER))).logits
    else:
        ids, real, positions = padded(OTHER, side)
        plain = model(OTHER).logits
        found = model(ids, real, positions=positions).logits[real].view_as(plain)
    assert torch.allclose(found, plain, atol=1e-12)


def beams_of(name, model, beams):
    """What a search finds for each row, in their order; it may not depend on the other rows."""
    found, tokens = {}, Tokens(ends=(2,), start=(1,))
    choice, search = Choice(beams=beams, max_new_tokens=6), translated if name in PAIRED else continued
    for numbers, some in search(model, IDS.tolist(), choice, tokens, name=str):
        found.update(zip(numbers, some, strict=True))
    return [found[number] for number in range(len(IDS))]


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("name", DECODERS + PAIRED)
def test_a_cached_search_adds_up_the_log_probabilities_of_whole_passes(name, beams):
    model = made(name)
    for row, one in zip(IDS, beams_of(name, model, beams), strict=True):
        written = torch.tensor([*one.tokens, *([2] if one.ended else [])])
        if name in PAIRED:
            logits = model(row[None], torch.cat([torch.tensor([1]), written[:-1]])[None]).logits[0]
        else:
            logits = model(torch.cat([row, written[:-1]])[None]).logits[0, len(row) - 1 :]
        logs = logits.log_softmax(-1)
        total = float(logs.gather(1, written[:, None]).sum())
        assert one.score == pytest.approx(total / (len(written) if beams > 1 else 1), abs=1e-5)
        if beams == 1:
            assert logs.argmax(1).tolist() == written.tolist()


@pytest.mark.parametrize("name", PAIRED)
def test_one_beam_is_greedy_and_its_score_is_the_sum_of_log_probabilities(name):
    model, tokens = made(name), Tokens(ends=(2,), start=(1,))
    choice = Choice(beams=1, max_new_tokens=6)
    ((_, found),) = translated(model, IDS.tolist(), choice, tokens, name=str)
    assert len(found) == len(IDS)
    for one in found:
        written = [1, *one.tokens, *([2] if one.ended else [])]
        scores = []
        for source in IDS:
            logits = model(source[None], torch.tensor([written[:-1]])).logits[0].log_softmax(-1)
            greedy = [int(row.argmax()) for row in logits]
            scores.append((greedy == written[1:], float(logits.gather(1, torch.tensor(written[1:])[:, None]).sum())))
        assert any(same and score == pytest.approx(one.score, abs=1e-5) for same, score in scores)


@pytest.mark.parametrize("name", ["gpt2 positions=16", "transformer"])
def test_gradients_are_those_of_finite_differences(name):
    model = made(name)
    names, values = zip(*((name, one.detach().clone().requires_grad_()) for name, one in model.named_parameters()), strict=True)
    given = (IDS[:1, :3], OTHER[:1, :3]) if name in PAIRED else (IDS[:1, :3],)

    def logits(*parameters):
        return torch.func.functional_call(model, dict(zip(names, parameters, strict=True)), given).logits

    assert torch.autograd.gradcheck(logits, values, fast_mode=True)


def test_a_target_longer_than_the_positions_is_one_line():
    with pytest.raises(GlassformerError, match="positions=16") as error:
        made("bart-base-seq2seq positions=16")(IDS, torch.ones(2, 17, dtype=torch.int64))
    assert "\n" not in str(error.value)
