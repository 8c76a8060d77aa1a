"""The boundary: every bad input is refused in one line that says what, where, what is allowed and what to do."""

import pytest
import torch
from model_cases import BERT, MODERN, VIT, WHISPER, inputs_of, seeded

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.boundary.checks import check_batch
from glassformer.spec import EncoderSpec

TOKENS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
ONES = torch.ones(2, 4, dtype=torch.bool)
VECTORS = EncoderSpec(d_model=8, heads=2, layers=1)
X = torch.zeros(2, 4, 8)


def wrong(tensor, index, value):
    changed = tensor.clone()
    changed[index] = value
    return changed


# ruff: noqa: E501  (a table: one line a case)
REFUSALS = {
    "past the vocabulary": (BERT, {"inputs": wrong(TOKENS, (1, 2), 50)}, r"tokens[1,2] = 50 is out of range: the vocabulary has 50 entries, 0 to 49."),
    "far past it": (BERT, {"inputs": wrong(TOKENS, (0, 0), 10**12)}, "tokens[0,0] = 1000000000000 is out of range"),
    "negative": (BERT, {"inputs": wrong(TOKENS, (0, 3), -1)}, "tokens[0,3] = -1 is out of range"),
    "float ids": (BERT, {"inputs": TOKENS.float()}, "tokens must be whole numbers (int64), got float32."),
    "boolean ids": (BERT, {"inputs": TOKENS.bool()}, "tokens must be whole numbers (int64), got bool."),
    "1-d ids": (BERT, {"inputs": TOKENS[0]}, "tokens must be (batch, t), got (4,). Add a batch axis: tokens[None]."),
    "3-d ids": (BERT, {"inputs": TOKENS[None]}, "tokens must be (batch, t), got (1, 2, 4)."),
    "a list": (BERT, {"inputs": [[1, 2]]}, "tokens must be a tensor, got list. Pass torch.tensor(tokens)."),
    "nothing": (BERT, {"inputs": None}, "tokens must be a tensor, got NoneType."),
    "no tokens": (BERT, {"inputs": TOKENS[:, :0]}, "empty sequence: tokens has shape (2, 0), and every row needs at least 1 token."),
    "too long": (BERT, {"inputs": torch.zeros(1, 20, dtype=torch.long)}, "sequence too long: tokens has 20 positions a row, this encoder has positions=16. Cut it with tokens[:, :16] (drops the last 4), or split the text."),
    "position too far": (BERT, {"inputs": TOKENS, "positions": wrong(TOKENS, (1, 0), 16)}, "positions[1,0] = 16 is out of range: this encoder has positions=16, 0 to 15."),
    "position below 0": (MODERN, {"inputs": TOKENS, "positions": wrong(TOKENS, (1, 0), -3)}, "positions[1,0] = -3 is out of range: it may not be negative."),
    "segment too far": (BERT, {"inputs": TOKENS, "segments": wrong(TOKENS * 0, (0, 1), 2)}, "segments[0,1] = 2 is out of range: this encoder has segments=2, 0 to 1."),
    "segments unasked": (MODERN, {"inputs": TOKENS, "segments": TOKENS * 0}, "segments are given, but this encoder has no segment table."),
    "float segments": (BERT, {"inputs": TOKENS, "segments": TOKENS.float()}, "segments must be whole numbers (int64), got float32."),
    "segments of another shape": (BERT, {"inputs": TOKENS, "segments": TOKENS[:, :3] * 0}, "segments is (2, 3), tokens is (2, 4): batch and t must agree."),
    "mask too long": (BERT, {"inputs": TOKENS, "attend": torch.ones(2, 6)}, "attend is (2, 6), tokens is (2, 4): batch and t must agree."),
    "mask of one row": (BERT, {"inputs": TOKENS, "attend": ONES[:1]}, "attend is (1, 4), tokens is (2, 4)"),
    "square mask": (BERT, {"inputs": TOKENS, "attend": torch.ones(2, 4, 4).bool()}, "attend is (2, 4, 4), tokens is (2, 4)"),
    "additive mask": (BERT, {"inputs": TOKENS, "attend": wrong(torch.zeros(2, 4), (0, 3), -torch.inf)}, "attend must be boolean, or 0 and 1 (1 = a real token); found -inf at [0,3]. This looks like an additive mask: pass attend == 0."),
    "finite additive mask": (BERT, {"inputs": TOKENS, "attend": wrong(torch.zeros(2, 4), (0, 3), -1e9)}, "found -1e+09 at [0,3]. This looks like an additive mask"),
    "share mask": (BERT, {"inputs": TOKENS, "attend": wrong(torch.ones(2, 4), (1, 0), 0.5)}, "found 0.5 at [1,0]."),
    "nan mask": (BERT, {"inputs": TOKENS, "attend": wrong(torch.ones(2, 4), (1, 0), torch.nan)}, "found nan at [1,0]."),
    "float mask": (BERT, {"inputs": TOKENS, "attend": torch.ones(2, 4)}, "got float32. Pass attend.bool(), or attend == 0 if it is additive."),
    "zeros that may mean two things": (BERT, {"inputs": TOKENS, "attend": torch.zeros(2, 4)}, "Pass attend.bool(), or attend == 0"),
    "mask of numbers": (BERT, {"inputs": TOKENS, "attend": wrong(TOKENS * 0, (1, 1), 2)}, "attend[1,1] = 2 is out of range: a mask holds 1 at real tokens and 0 at padding, 0 to 1."),
    "mask of minus one": (BERT, {"inputs": TOKENS, "attend": wrong(TOKENS * 0, (1, 1), -1)}, "attend[1,1] = -1 is out of range"),
    "complex mask": (BERT, {"inputs": TOKENS, "attend": ONES.to(torch.complex64)}, "attend must be whole numbers (int64), got complex64."),
    "padding on the left": (BERT, {"inputs": TOKENS, "attend": wrong(ONES, (1, 0), False)}, "row 1 is padded on the left, so its tokens would get the wrong positions. Pad on the right, or pass positions=(attend.cumsum(1) - 1).clamp(min=0)."),
    "vectors of another width": (VECTORS, {"inputs": X[..., :7]}, "vectors must be (batch, t, d_model=8), got (2, 4, 7)."),
    "one sequence of vectors": (VECTORS, {"inputs": X[0]}, "got (4, 8). Add a batch axis: vectors[None]."),
    "vectors in another precision": (VECTORS, {"inputs": X.double()}, "vectors is float64, the encoder is float32: one of them must follow the other. Pass vectors.to(torch.float32)."),
    "whole vectors": (VECTORS, {"inputs": X.long()}, "vectors must be floating-point numbers, got int64. Pass vectors.float()."),
    "no vectors": (VECTORS, {"inputs": X[:, :0]}, "empty sequence: vectors has shape (2, 0, 8)"),
    "another image size": (VIT, {"inputs": torch.zeros(1, 2, 9, 9)}, "image must be (batch, channels=2, height=9, width=7), got (1, 2, 9, 9). Resize or crop it first."),
    "one image": (VIT, {"inputs": torch.zeros(2, 9, 7)}, "got (2, 9, 7). Add a batch axis: image[None]."),
    "image of bytes": (VIT, {"inputs": torch.zeros(1, 2, 9, 7, dtype=torch.uint8)}, "image must be floating-point numbers, got uint8. Pass image.float() / 255."),
    "a shorter sound": (WHISPER, {"inputs": torch.zeros(1, 5, 6)}, "frames must be (batch, mels=5, frames=8), got (1, 5, 6). Cut the audio, or pad it with silence."),
    "one sound": (WHISPER, {"inputs": torch.zeros(5, 8)}, "got (5, 8). Add a batch axis: frames[None]."),
    "a sound that is turned": (WHISPER, {"inputs": torch.zeros(1, 8, 5)}, "got (1, 8, 5). Turn it: frames.mT."),
    "a sound of whole numbers": (WHISPER, {"inputs": torch.zeros(1, 5, 8, dtype=torch.int64)}, "frames must be floating-point numbers, got int64. Pass frames.float()."),
    "a sound with a mask": (WHISPER, {"inputs": torch.zeros(1, 5, 8), "attend": ONES}, "every audio frame is real and has a fixed position"),
    "image with a mask": (VIT, {"inputs": torch.zeros(1, 2, 9, 7), "attend": ONES}, "attend and positions are for sequences"),
    "no such layer": (BERT, {"inputs": TOKENS, "return_weights": [2]}, "return_weights: there is no layer 2, this encoder has layers 0 to 1."),
    "a bare layer": (BERT, {"inputs": TOKENS, "return_weights": 1}, "return_weights=1 is one layer: give a list of layers, [1]."),
    "asking the wrong head": (BERT, {"inputs": TOKENS, "predict_at": ONES}, "predict_at is given, but head=classify predicts no masked tokens."),
    "asking too far": (MODERN, {"inputs": TOKENS, "predict_at": torch.tensor([8])}, "predict_at[0] = 8 is out of range: the batch has 8 tokens, 0 to 7."),
    "asking in another shape": (MODERN, {"inputs": TOKENS, "predict_at": ONES[:, :3]}, "predict_at is (2, 3), tokens is (2, 4)"),
    "another device": (BERT, {"inputs": TOKENS.to("meta")}, "tokens is on meta, the encoder on cpu. Pass tokens.to('cpu')."),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "given", "said"), REFUSALS.values(), ids=REFUSALS)
def test_a_bad_input_is_refused_in_one_line(spec, given, said):
    with pytest.raises(GlassformerError) as refusal:
        Encoder(spec)(**given)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) <= 240


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.uint8])
def test_whole_numbers_of_any_width_are_ids_and_masks(dtype):
    encoder = seeded(BERT)
    attend = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0]])
    wanted = encoder(TOKENS, attend.bool()).states
    assert torch.equal(encoder(TOKENS.to(dtype), attend.to(dtype), segments=(TOKENS * 0).to(dtype)).states, wanted)


def test_a_mask_without_padding_is_not_a_mask():
    encoder = seeded(BERT)
    assert torch.equal(encoder(TOKENS, ONES).states, encoder(TOKENS).states)


def test_left_padding_is_fine_where_only_distances_count():
    encoder = seeded(MODERN)
    tokens, attend = inputs_of(MODERN), torch.ones(3, 5, dtype=torch.bool)
    attend[:, 0] = False
    assert torch.allclose(encoder(tokens, attend).states[:, 1:], encoder(tokens[:, 1:]).states, atol=1e-12, rtol=0)


def test_a_row_without_a_real_token_is_defined():
    output = seeded(BERT.replace(pool="mean"))(TOKENS, wrong(ONES, 1, False), return_weights=[0])
    assert output.states.isfinite().all()
    assert not output.weights[0][1].any()


def test_vectors_of_another_precision_are_fine_under_autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert Encoder(VECTORS)(X.bfloat16()).states.isfinite().all()


def test_a_loader_can_check_a_batch_by_itself():
    check_batch(BERT, TOKENS, ONES, TOKENS * 0)
    check_batch(VECTORS, X)
    with pytest.raises(GlassformerError, match="out of range"):
        check_batch(BERT, TOKENS + 100)


def test_shapes_alone_can_run_without_numbers():
    encoder = Encoder(BERT, device="meta")
    assert encoder(TOKENS.to("meta"), ONES.to("meta")).states.shape == (2, 4, 16)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", ["past the vocabulary", "negative", "position too far", "segment too far", "additive mask"])
def test_on_a_gpu_errors_are_the_same_and_the_device_stays_usable(name):
    spec, given, said = REFUSALS[name]
    encoder = Encoder(spec, device="cuda")
    with pytest.raises(GlassformerError) as refusal:
        encoder(**{key: value.cuda() for key, value in given.items()})
    assert said in str(refusal.value)
    assert encoder(TOKENS.cuda()).states.isfinite().all()
