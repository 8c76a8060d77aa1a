"""Laws of quantities: they equal what count, shapes and cost say; parts add up; an unknown name lists the nearest ones."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import specs

import glassformer as gf
from glassformer.answers.quantities import MEANINGS, Answer, Table, ask
from glassformer.answers.quantities.operations import PARTS as STEPS_OF_PARTS
from glassformer.configs.reading import request, request_from_words
from glassformer.errors import GlassformerError
from glassformer.program import build
from glassformer.spec import EncoderSpec


def value(expression: str, spec: EncoderSpec | str, **sizes: int) -> object:
    answer = ask(expression, request(spec, **sizes))
    assert isinstance(answer, Answer)
    return answer.value


@settings(max_examples=40, deadline=None)
@given(specs(), st.sampled_from(["attention", "ffn", "qkv", "output", "norms", "embeddings", "weights"]))
def test_params_equal_count(spec: EncoderSpec, part: str) -> None:
    assert value("params", spec) == gf.count(spec).total
    try:
        counted = gf.count(spec, only=part).total
    except GlassformerError:
        assume(False)
    assert value(f"params({part})", spec) == counted
    left = gf.count(spec, without=part).total
    assert value(f"params(without={part})", spec) == left if left else True
    assert value(f"params - params({part})", spec) == left


@settings(max_examples=40, deadline=None)
@given(specs())
def test_the_layers_add_up(spec: EncoderSpec) -> None:
    assume(spec.layers and gf.count(spec).layers)
    layers = gf.count(spec).layers
    for layer, total in layers.items():
        assert value(f"params(layer={layer})", spec) == total


@settings(max_examples=40, deadline=None)
@given(specs(), st.data())
def test_shapes_and_elements_equal_shapes(spec: EncoderSpec, data: st.DataObject) -> None:
    program = build(spec)
    names = [step.name for step in program.steps] + [parameter.name for parameter in program.parameters]
    assume(names)
    name = data.draw(st.sampled_from(names))
    shown = gf.shapes(spec)[name]
    found = value(f"shape({name})", spec)
    assert found in (shown.shape, shown.matrix)
    assert value(f"elements({name})", spec) == shown.elements


@settings(max_examples=40, deadline=None)
@given(specs(), st.sampled_from(["forward", "training"]))
def test_operations_equal_cost(spec: EncoderSpec, which: str) -> None:
    cost = gf.cost(spec, train=which == "training")
    assume(cost.multiply_adds)
    assert value(f"macs(pass={which})", spec) == cost.multiply_adds
    assert value(f"flops(pass={which})", spec) == cost.matrix_flops
    assert value(f"flops(pass={which}, count=all)", spec) == cost.flops


def test_all_operations_of_attention_hold_the_softmax_as_cost_does() -> None:
    attention = gf.cost("bert-base", t=128).parts["layers: attention"].flops // 12
    assert value("flops(attention, layer=0, count=all)", "bert-base", t=128) == attention == 655_884_288


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 3), st.integers(1, 6))
def test_growth_is_the_exponent_of_the_polynomial(heads: int, d_k: int, layers: int, t: int) -> None:
    spec = gf.spec("encoder", d_model=8 * heads, heads=heads, d_k=d_k, layers=layers)
    exponents = [value(f"growth(flops({part}), t)", spec) for part in ("scores", "ffn", "attention")]
    assert exponents == [2, 1, 2]
    once, twice = (value("flops(scores)", spec, t=size) for size in (t, 2 * t))
    assert twice == 4 * once  # type: ignore[operator]


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.integers(1, 20), st.integers(2, 90))
def test_solve_finds_the_size_again(width: int, layers: int, classes: int) -> None:
    asked = request("encoder", d_model=4 * width, heads=4, layers=layers, vocab=50, head="classify", classes=classes)
    total = gf.count(asked.spec).total
    other = request(asked.spec, classes=2)
    for size, truth in (("classes", classes), ("layers", layers), ("d_model", 4 * width)):
        start = {"classes": other, "layers": request(asked.spec, layers=2), "d_model": request(asked.spec, d_model=8)}[size]
        found = ask(f"solve({size}, params = {total})", start)
        assert found.value == truth


def test_where_attention_and_ffn_cost_the_same() -> None:
    assert value("solve(t, flops(attention, layer=0) = flops(ffn, layer=0))", "bert-base") == 1536


@pytest.mark.parametrize("name", MEANINGS)
def test_every_quantity_has_an_example_that_runs(name: str) -> None:
    meaning = MEANINGS[name]
    for spec in ("bert-base", "vit-b16", "bert-base head=classify classes=3"):
        try:
            found = ask(meaning.example, request_from_words([*spec.split(), *(["t=16"] if "bert" in spec else [])]))
        except GlassformerError:
            continue
        assert found.value is not None
        return
    pytest.fail(f"{meaning.example} runs for no spec")


def test_plain_arithmetic_needs_no_model() -> None:
    assert ask("16 * 2 * 2048 * 768 * 12").value == 603_979_776
    assert ask("2/3").value == pytest.approx(2 / 3)
    assert isinstance(ask("2/3"), Answer)
    assert ask("2/3").exact == Fraction(2, 3)  # type: ignore[union-attr]


def test_two_models_in_one_expression() -> None:
    assert ask("params @ bert-large - params @ bert-base").value == 225_659_648


def test_names_without_a_model_refer_to_the_only_model_named() -> None:
    assert ask("params(ffn, layer=0) @ bert-base / (d_model * d_ff)").value == pytest.approx(4_722_432 / (768 * 3072))


def test_fields_of_the_spec_are_options_and_names() -> None:
    assert value("params(head=mlm, tie=no) - params(head=mlm, tie=yes)", "bert-base") == 30_522 * 768
    assert value("d_model * (d_q + d_k + d_v)", "bert-base") == 768 * 192
    assert value("4nd² + 2n²d", "bert-base", t=10) == 4 * 10 * 768**2 + 2 * 10**2 * 768


def test_a_length_inside_one_quantity_leaves_the_others_alone() -> None:
    assert value("flops(t=512) / flops", "bert-base", t=128) == value("flops(t=512) / flops", "bert-base")
    assert value("flops(t=512) / flops", "bert-base") == pytest.approx(4.32415, abs=1e-5)
    assert value("elements(scores, batch=4, t=8) - batch * heads * t^2", "bert-base") == 0  # a bare t is the only t there is


def test_a_list_of_sizes_gives_a_table() -> None:
    inside, outside = (
        ask("flops(t=128, 256)", request("bert-base")),
        ask("flops", request("bert-base"), over={"t": ["128", "256"]}),
    )
    assert isinstance(inside, Table)
    assert isinstance(outside, Table)
    assert inside.value == outside.value == [gf.cost("bert-base", t=t).matrix_flops for t in (128, 256)]


def test_results_are_converted_to_units() -> None:
    assert value("bytes(weights) in MiB", "bert-base") == pytest.approx(109_482_240 * 4 / 2**20)
    assert value("params(ffn) / params in %", "bert-base") == pytest.approx(51.7610746)
    assert value("params in M", "bert-base") == pytest.approx(109.48224)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("parms", "Did you mean 'params'?"),
        ("params(fnn)", "Did you mean 'ffn'?"),
        ("params(ffn, leyer=0)", "Did you mean 'layer'?"),
        ("params(layer=12)", "the layers are 0 to 11"),
        ("params(layer=-1)", "layer=-1 is not a whole number of at least 0"),
        ("params(ffn", "'params(ffn' cannot be read: ')' is missing."),
        ("softmax(2)", "'softmax(2)' cannot be computed: softmax needs a list of numbers."),
        ("params ffn", "'ffn' is not a quantity or a field of the spec. It is a part: write params(ffn)"),
        ("params(ffn) bert-base", "A model goes after '@', as in 'params @ bert-base'"),
        ("params in MBB", "'MBB' is not a unit. Units: "),
        ("params(head=12)", "the heads are 0 to 11"),
        ("shape(wieghts)", "Did you mean"),
        ("bytes(weights, dtype=fp17)", "one of fp64, fp32"),
        ("params + bytes(weights)", "adds parameters and bytes, which are different quantities"),
        ("params in MB", "'params' counts parameters, so it cannot be converted to MB"),
        ("bytes(weights) in GFLOPs", "cannot be converted to GFLOPs"),
        ("shape(weights) + 1", "is a shape, not a number"),
        ("solve(layers, params = 7)", "no whole value of layers makes both sides equal"),
        ("solve(heads, params = 109,482,240)", "the equation holds for every heads"),
        ("params = 7", "is a claim"),
        ("growth(params)", "write an expression and a size"),
        ("updates(rows=10)", "batch=… is missing"),
        ("1 / 0", "'1 / 0' cannot be computed: division by zero."),
        ("2^(2^70)", ""),
        ("patches", "does not take images"),
    ],
)
def test_an_error_names_the_problem_and_the_way_out(expression: str, says: str) -> None:
    with pytest.raises(GlassformerError) as refused:
        ask(expression, request("bert-base"))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_quantity_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(GlassformerError, match=r"of which model\? Add a spec, as in 'bert-base', or write params @ bert-base"):
        ask("params")


def test_parts_of_the_cost_are_parts_of_the_count_where_both_have_them() -> None:
    assert {"attention", "ffn", "qkv", "output", "norms", "layers", "embeddings", "pooler", "head"} <= set(STEPS_OF_PARTS)


def test_both_norms_of_a_layer_count_the_same_operations() -> None:
    first, second = (value(f"flops(layers.0.norm_{number}, t=8, count=all)", "bert-base") for number in (1, 2))
    assert first == second
    assert value("flops(norms, layer=0, t=8, count=all)", "bert-base") == first + second


def test_attention_alone_costs_as_much_as_its_block() -> None:
    spec = "attention d_model=64 heads=4"
    assert value("flops(layers.0.attention, t=8)", spec) == value("flops(attention, t=8)", spec)
