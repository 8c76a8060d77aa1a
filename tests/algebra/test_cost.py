"""FLOPs and bytes, against published figures and the laws of growth."""

import pytest
from hypothesis import given, settings
from strategies import specs

import glassformer as gf
from glassformer.algebra import cost, largest_batch, parse_bytes
from glassformer.errors import GlassformerError
from glassformer.model.kept import FUSED
from glassformer.program import build
from glassformer.program.kept import MATERIALISED


def test_bert_base_forward_at_512_tokens():
    assert gf.cost("bert-base", batch=1, t=512).multiply_adds == 48_318_971_904


def test_vit_b16_forward():
    assert gf.cost("vit-b16", classes=1000).multiply_adds == 17_563_828_224


def test_a_training_step_is_three_forward_passes_of_products():
    forward, training = (gf.cost("bert-base", t=128, train=train) for train in (False, True))
    assert training.multiply_adds == 3 * forward.multiply_adds


def test_doubling_the_length_quadruples_the_scores_and_doubles_the_projections():
    short, long = (gf.cost("bert-base", t=t).parts for t in (128, 256))
    assert long["layers: attention: scores and mix"].multiply_adds == 4 * short["layers: attention: scores and mix"].multiply_adds
    assert long["layers: attention: projections"].multiply_adds == 2 * short["layers: attention: projections"].multiply_adds


def test_a_fused_kernel_skips_keys_outside_the_window():
    full, fused = (gf.cost("modernbert-base", t=1024, kernel=kernel) for kernel in ("materialised", "fused"))
    assert fused.multiply_adds < full.multiply_adds
    layer = {row.name: row.multiply_adds for row in fused.rows}
    assert layer["layers.0.attention.scores"] == 1024 * 1024 * 768  # global
    seen = sum(min(1023, q + 64) - max(0, q - 64) + 1 for q in range(1024))
    assert layer["layers.1.attention.scores"] == seen * 768  # local, 64 to each side


def test_bytes_of_weights_gradients_and_moments():
    memory = gf.cost("bert-base", t=128, train=True).memory
    assert (memory.weights, memory.gradients, memory.optimizer) == (437_928_960, 437_928_960, 875_857_920)
    assert memory.total == sum((memory.weights, memory.gradients, memory.optimizer, memory.activations))


def test_16_bit_training_keeps_a_copy_of_the_weights():
    memory = gf.cost("bert-base", t=128, train=True, dtype="bfloat16").memory
    assert (memory.weights, memory.optimizer) == (218_964_480, 109_482_240 * 12)


def test_fused_attention_saves_no_scores():
    materialised, fused = (gf.cost("bert-base", t=512, train=True, kernel=kernel).memory for kernel in ("materialised", "fused"))
    # Weights and their dropout mask, 12 layers of 12 heads, against one log-sum a row.
    assert materialised.activations - fused.activations == 12 * 12 * 512 * (512 * 5 - 4)


def test_a_score_matrix_is_268_435_456_bytes():
    """32 inputs, 8 heads, 512 by 512 scores of 4 bytes: two such tensors, scores and weights, are alive at once."""
    run = gf.cost("attention", d_model=512, heads=8, batch=32, t=512)
    assert run.memory.activations > 2 * 268_435_456


@given(specs())
@settings(max_examples=60)
def test_cost_adds_up(spec):
    program = build(spec)
    found = cost(program)
    tops = [row for name, row in found.parts.items() if not name.startswith("layers:")]
    assert sum(row.multiply_adds for row in tops) == found.multiply_adds
    assert sum(row.flops for row in tops) == found.flops >= 2 * found.multiply_adds
    fused, written_out = (
        cost(program, which="training", memory_model=memory_model).memory for memory_model in (FUSED, MATERIALISED)
    )
    # Else our own encoder keeps queries and keys before and after, or writes attention out with copies of its own.
    if not spec.rotary and spec.group == 1 and not spec.relative:
        assert fused.activations <= written_out.activations


@given(specs())
@settings(max_examples=60)
def test_multiply_adds_are_linear_in_the_batch(spec):
    if spec.pooler == "attention" or spec.disentangled:
        return  # the learned query, and the table of distances, are projected once, whatever the batch
    one, three = (cost(build(spec, batch=batch)).multiply_adds for batch in (1, 3))
    assert three == 3 * one


def test_the_largest_batch_fits_and_the_next_does_not():
    limit = parse_bytes("24GB")
    options = {"training": True, "memory_model": FUSED, "dtype": "bfloat16", "optimizer": "adamw"}
    batch = largest_batch(gf.spec("bert-base"), limit, t=512, **options)

    def needed(size):
        return gf.cost("bert-base", batch=size, t=512, train=True, kernel="fused", dtype="bfloat16").memory.total

    assert needed(batch) <= limit < needed(batch + 1)


def test_a_model_too_large_for_the_memory_has_no_batch():
    options = {"training": True, "memory_model": FUSED, "dtype": "float32", "optimizer": "adamw"}
    assert largest_batch(gf.spec("bert-large"), 10**9, t=512, **options) == 0


@pytest.mark.parametrize(("text", "size"), [("24GB", 24 * 10**9), ("24 GiB", 24 * 2**30), ("1.5gb", 1_500_000_000), ("512", 512)])
def test_amounts_of_memory(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "24XB", "1e9999GB", "nan", "1/3GB", "9" * 40, "0"])
def test_an_invalid_amount_of_memory_is_refused(text):
    with pytest.raises(GlassformerError, match=r"is not an amount of memory: write 24GB"):
        parse_bytes(text)


def test_the_peak_of_training_is_less_than_all_of_it_together():
    memory = gf.cost("bert-base", t=128, train=True, kernel="fused", head="none", pooler="none", dropout=0.0).memory
    assert memory.weights + memory.optimizer + memory.activations <= memory.peak < memory.total


def test_a_masked_token_head_costs_only_at_masked_positions():
    whole, some = (gf.cost("bert-base", head="mlm", t=100, batch=8, train=True, masked=share) for share in (1.0, 0.15))
    assert some.parts["head"].multiply_adds == whole.parts["head"].multiply_adds * 15 // 100
    assert some.parts["layers"] == whole.parts["layers"]
    assert whole.memory.peak > some.memory.peak


def test_after_the_last_attention_a_fused_pass_computes_only_the_tokens_that_the_head_reads():
    fields = {"head": "mlm", "t": 100, "batch": 8, "train": True, "kernel": "fused"}
    whole, some = (gf.cost("bert-base", masked=share, **fields) for share in (1.0, 0.15))
    spared = 3 * 8 * 85 * (768 * 768 + 2 * 768 * 3072)  # W_O and the feed-forward block of one layer, at 85 of 100 positions
    assert whole.parts["layers"].multiply_adds - some.parts["layers"].multiply_adds == spared
    assert whole.memory.activations > some.memory.activations


def test_bytes_of_a_forward_pass_at_their_peak():
    memory = gf.cost("bert-base", t=128).memory
    assert memory.peak == memory.total == memory.weights + memory.activations


def test_16_bit_training_has_float32_gradients():
    memory = gf.cost("bert-base", t=128, train=True, dtype="bfloat16").memory
    assert memory.gradients == 109_482_240 * 4


def test_the_output_projection_of_a_bare_sub_layer_is_a_projection():
    parts = gf.cost("attention", d_model=64, heads=4, t=10).parts
    assert parts["layers: attention: projections"].multiply_adds == 4 * 10 * 64 * 64
    assert "layers: norms and sums" not in parts


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"kernel": "fusd"}, "kernel=fusd is not known. Did you mean 'fused'"),
        ({"dtype": "float8"}, "dtype=float8 is not known"),
        ({"optimizer": "adam"}, "Did you mean 'adamw'"),
        ({"masked": 2}, "masked=2 is not allowed: masked is a share of the positions, from 0 to 1"),
        ({"masked": float("nan")}, "masked=nan is not allowed: masked is a share of the positions, from 0 to 1"),
    ],
)
def test_an_invalid_kernel_format_or_share_is_refused(choice, said):
    with pytest.raises(gf.GlassformerError, match=said):
        gf.cost("bert-base", t=16, **choice)


@pytest.mark.parametrize(("name", "kept"), [("bert-base", 12 * 3072), ("modernbert-base", 22 * 2 * 1152)])
def test_compiled_layers_keep_no_activations_of_feed_forward_blocks(name, kept):
    fused, compiled = (
        gf.cost(name, batch=2, t=16, train=True, dtype="bfloat16", kernel=kernel) for kernel in ("fused", "compiled")
    )
    assert fused.memory.activations - compiled.memory.activations == 2 * 16 * kept * 2
    assert (fused.multiply_adds, fused.flops) == (compiled.multiply_adds, compiled.flops)


@pytest.mark.parametrize("amount", [5, None, b"1GB", [], 2.5])
def test_an_amount_of_memory_is_a_text(amount):
    with pytest.raises(GlassformerError, match="is not an amount of memory: write 24GB"):
        parse_bytes(amount)


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"spec": "bert-tiny"}, "the first argument must be a spec, such as gf.spec('bert-base'), found bert-tiny."),
        ({"limit": "1GB"}, "limit=1GB is not allowed: limit must be a whole number from 0."),
        ({"training": "no"}, "training=no is not allowed: training must be True or False."),
        ({"dtype": "float31"}, "dtype=float31 is not known."),
        ({"t": "a"}, "t=a is not allowed"),
    ],
)
def test_the_largest_batch_of_an_invalid_request_is_a_one_line_error(changed, line):
    asked = {"spec": gf.spec("bert-tiny"), "limit": 10**9, "t": 8, "training": False}
    with pytest.raises(GlassformerError) as caught:
        largest_batch(**asked | {"memory_model": FUSED, "dtype": "float32", "optimizer": "adamw"} | changed)
    assert line in str(caught.value)


def test_the_largest_batch_with_an_unknown_kernel_is_one_line():
    with pytest.raises(GlassformerError, match=r"kernel=fast is not known\."):
        gf.largest_batch("bert-tiny", 10**9, t=8, kernel="fast")


def test_grouped_queries_cost_less_in_keys_and_values_and_as_much_in_scores():
    whole, grouped = (gf.cost("layer", d_model=64, heads=8, t=16, **given) for given in ({}, {"kv_heads": 2}))
    scores, projections = "layers: attention: scores and mix", "layers: attention: projections"
    assert grouped.parts[scores] == whole.parts[scores]
    narrower = 2 * 16 * 64 * (64 - 16)
    assert whole.parts[projections].multiply_adds - grouped.parts[projections].multiply_adds == narrower


def test_queries_and_keys_are_kept_with_the_values_even_if_only_rotated_ones_are_read():
    """They come out of one product, as one tensor."""
    plain, turned = (
        gf.cost("bert-base", batch=2, t=16, train=True, dtype="bfloat16", kernel="fused", position=position).memory.activations
        for position in ("none", "rotary")
    )
    assert turned - plain == 12 * 2 * (2 * 16 * 768 * 2)


def _activations(position, kernel, **fields):
    sizes = {"d_model": 64, "heads": 4, "layers": 3, "positions": 16, "dropout": 0.0, "batch": 2, "t": 16} | fields
    return gf.cost("layer", position=position, train=True, kernel=kernel, **sizes)


PAIRS, ROWS = 4 * 16 * 16, 8 * 16 * 16  # numbers in one sequence's scores; bytes that say which row belongs to each pair


@pytest.mark.parametrize(("dtype", "width"), [("float32", 4), ("bfloat16", 2)])
def test_attention_with_a_learned_bias_is_written_out_in_float32(dtype, width):
    """Instead of a log-sum for each row of scores the weights are kept, and queries, keys and values in their format."""
    plain, biased = (_activations(position, "fused", dtype=dtype).memory.activations for position in ("none", "relative"))
    wider = 3 * (2 * 16 * 64) * (4 - width)
    assert biased - plain == ROWS + 3 * (4 * 2 * PAIRS - 4 * 2 * 4 * 16 + wider)


def test_dropout_keeps_weights_that_are_written_out_three_times():
    """As they are, what they are multiplied by, and what that gives."""
    with_dropout, without = (_activations("relative", "fused", dropout=share).memory.activations for share in (0.1, 0.0))
    elsewhere = _activations("none", "fused", dropout=0.1).memory.activations - _activations("none", "fused").memory.activations
    assert with_dropout - without - elsewhere == 3 * 2 * (4 * 2 * PAIRS)


@pytest.mark.parametrize("tables", ["shared", "per_layer"])
def test_compiled_layers_keep_a_learned_bias_and_no_scores(tables):
    plain, biased = (
        _activations(position, "compiled", dtype="bfloat16", **fields).memory.activations
        for position, fields in (("none", {}), ("relative", {"relative_tables": tables}))
    )
    assert biased - plain == ROWS + (3 if tables == "per_layer" else 1) * 2 * PAIRS


def test_disentangled_attention_keeps_queries_and_keys_for_the_terms_by_distance_too():
    plain = _activations("none", "fused").memory.activations
    fields = {"position": "disentangled", "relative_buckets": 8, "relative_distance": 8}
    fused, compiled = (_activations(kernel=kernel, **fields).memory.activations for kernel in ("fused", "compiled"))
    projected, joint = 2 * 4 * 8 * 64, 4 * 3 * (2 * 16 * 64)  # bytes of a layer
    assert fused - plain == ROWS + 3 * (4 * 2 * PAIRS - 4 * 2 * 4 * 16 + projected + joint)
    bent = plain - _activations("none", "compiled").memory.activations
    assert compiled + bent - plain == ROWS + 3 * (4 * 2 * PAIRS + projected)


def test_the_convention_states_whether_scores_are_stored():
    said = {position: _activations(position, "fused").convention for position in ("none", "relative")}
    assert "are stored, as on a CPU" in said["relative"] and "written out" not in said["none"]
    assert "scores with a learned bias stored in float32" in _activations("relative", "fused").memory.assumptions
    assert "but the learned relative bias is" in _activations("relative", "compiled").convention
    assert "written out" not in gf.cost("layer", position="relative", kernel="fused", d_model=64, heads=4, t=16).convention
